import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unlessMissing } from './server-account.ts';

describe('unlessMissing', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chainstead-unless-missing-'));
    await writeFile(join(folder, 'file'), 'text');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('gives what is found', async () => {
    expect(await unlessMissing(readFile(join(folder, 'file'), 'utf8'))).toBe('text');
  });

  it('gives undefined for a path that leads to nothing', async () => {
    expect(await unlessMissing(stat(join(folder, 'other')))).toBeUndefined();
    expect(await unlessMissing(stat(join(folder, 'file', 'below')))).toBeUndefined();
  });

  it('throws what is no absence', async () => {
    await expect(unlessMissing(readFile(folder, 'utf8'))).rejects.toThrow('EISDIR');
    await expect(unlessMissing(stat(join(folder, 'x'.repeat(300))))).rejects.toThrow('ENAMETOOLONG');
  });
});
