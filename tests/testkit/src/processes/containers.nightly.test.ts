import { readFileSync } from 'node:fs';
import { POSTGRES_MAJOR_MIN } from '@chainstead/db/server';
import { describe, expect, test, vi } from 'vitest';
import { CONTAINER_IMAGES, findDockerDaemon } from './containers.ts';

describe('images of containers', () => {
  test('begin with the oldest Postgres that is supported', () => {
    expect(CONTAINER_IMAGES.postgres[0]).toMatch(new RegExp(`^postgres:${POSTGRES_MAJOR_MIN}\\b`));
  });

  test('are the Redis that the compose file runs', () => {
    const compose = readFileSync(new URL('../../../../docker-compose.yml', import.meta.url), 'utf8');
    expect(compose).toContain(`image: ${CONTAINER_IMAGES.redis}\n`);
  });
});

test('the lack of a Docker daemon is said aloud, and only then', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const found = await findDockerDaemon('this and that');
  const lines = write.mock.calls.map(([text]) => String(text)).filter((text) => text.startsWith('NOT RUN'));
  write.mockRestore();
  expect(lines).toEqual(found ? [] : ['NOT RUN: no Docker daemon (this and that)\n']);
});
