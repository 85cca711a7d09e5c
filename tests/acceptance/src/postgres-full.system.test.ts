/** The whole program over an embedded Postgres whose disk is full for a while. */

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OutageStage, startOutageStage, WAIT } from './outage-stage.ts';

let disk: string;
let isMounted = false;
let stage: OutageStage | undefined;

beforeAll(async () => {
  disk = await mkdtemp(join(tmpdir(), 'chainstead-full-'));
  isMounted = mountSmallDisk(disk);
});

afterAll(async () => {
  await stage?.close();
  if (isMounted) execFileSync('umount', [disk]);
  await rm(disk, { recursive: true, force: true });
});

/** @returns false where this user may not mount anything */
function mountSmallDisk(folder: string): boolean {
  if (platform() !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=192m,mode=755', 'tmpfs', folder], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

describe('the disk of Postgres is full', () => {
  it('is named, blames no upstream, and is over once there is space', async ({ skip }) => {
    if (!isMounted) {
      process.stderr.write(
        'NOT RUN: a full disk under Postgres, which takes root and the right to mount a tmpfs\n',
      );
      skip();
    }
    stage = await startOutageStage({ seed: 12, environment: { DATA_DIR: join(disk, 'state') } });
    const { chain, environment, said } = stage;

    const ballast = join(disk, 'ballast');
    const { bavail, bsize } = await statfs(disk);
    const more = Buffer.alloc((bavail + 256) * bsize);
    await expect(writeFile(ballast, more)).rejects.toMatchObject({ code: 'ENOSPC' });
    await vi.waitFor(() => {
      chain.mine(5);
      expect(said('The database has no disk space left')).toBeGreaterThan(0);
    }, WAIT);
    expect((await stage.page()).status).toBe(200);
    const status = startProgram(['status'], { environment });
    await status.exited;
    expect(status.output()).toContain('The database has no disk space left');
    expect(status.output()).not.toContain('no error');
    expect(said('Worker failed outside of a job')).toBeLessThan(20);

    await rm(ballast);
    await stage.untilFollowed();
    await stage.untilReady(200);
    // Each of the processes may have met it, and logs it once.
    expect(said('"msg":"Database unavailable"')).toBeLessThanOrEqual(3);
  });
});
