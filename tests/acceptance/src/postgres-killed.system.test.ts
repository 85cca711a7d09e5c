/** The whole program over its embedded Postgres, whose postmaster is killed under it. */

import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLineOf, descendantsOf } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OutageStage, startOutageStage, WAIT } from './outage-stage.ts';

let dataDir: string;
let stage: OutageStage | undefined;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'chainstead-killed-'));
});

afterAll(async () => {
  await stage?.close();
  const pid = await postmasterPid();
  await vi.waitFor(() => expect(commandLineOf(pid)).toBeNull(), WAIT);
  await rm(dataDir, { recursive: true, force: true });
});

/** -1 when there is none. */
async function postmasterPid(): Promise<number> {
  try {
    return Number((await readFile(join(dataDir, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return -1;
    throw error;
  }
}

/** Postmasters among what the program started. */
function postmasters(pid: number): number[] {
  return descendantsOf(pid).filter((child) => / -D .*-c port=/.test(commandLineOf(child) ?? ''));
}

describe.runIf(platform() === 'linux')('the embedded Postgres is killed', () => {
  it('is started again; pages answer 503 meanwhile and then again, and rows go on', async () => {
    stage = await startOutageStage({ seed: 11, environment: { DATA_DIR: dataDir } });
    const { program, page } = stage;
    expect((await page()).status).toBe(200);

    const [killed = -1] = postmasters(program.pid);
    expect(killed).toBe(await postmasterPid());
    // It can't start before the outage is seen, however slowly this test looks.
    const settings = join(dataDir, 'data', 'postgresql.auto.conf');
    const before = await readFile(settings, 'utf8');
    await appendFile(settings, 'no setting\n');
    process.kill(killed, 'SIGKILL');
    const seen = new Map<number, { body: unknown; retryAfter: string | null }>();
    await vi.waitFor(async () => {
      const response = await page();
      seen.set(response.status, { body: await response.json(), retryAfter: response.headers.get('retry-after') });
      expect(response.status).toBe(503);
    }, WAIT);
    expect(seen.get(503)).toEqual({
      body: { message: 'The database is unavailable: try again later' },
      retryAfter: expect.stringMatching(/^\d+$/),
    });

    await writeFile(settings, before);
    await program.waitFor(/Embedded Postgres exited unexpectedly, restarting it/);
    await program.waitFor(/Embedded Postgres runs again/);
    await vi.waitFor(async () => {
      const response = await page();
      seen.set(response.status, { body: await response.json(), retryAfter: null });
      expect(response.status).toBe(200);
    }, WAIT);
    expect([...seen.keys()].toSorted()).toEqual([200, 503]);

    stage.chain.mine(10);
    await stage.untilFollowed();
    await stage.untilReady(200);
    expect(postmasters(program.pid)).toEqual([await postmasterPid()]);
    expect(postmasters(program.pid)).not.toContain(killed);

    process.kill(await postmasterPid(), 'SIGKILL');
    await program.waitFor(/exited unexpectedly[\s\S]*exited unexpectedly/);
    program.signal('SIGINT');
    expect(await program.exited).toBe(0);
    expect(commandLineOf(await postmasterPid())).toBeNull();
  });
});
