/** The program as the container runs it, without one: an ordinary user, no capabilities, and nothing that can be written but its two folders. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '@chainstead/testkit';
import { expect, it, vi } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const UID = 1_000;
const UNTIL_READY = { timeout: 220_000, interval: 250 };

/** In a name space of its own, where mounts are nobody else's: the data's folder, `/tmp`, and everything else read-only. */
const PREPARED = `
set -e
mount --make-rprivate /
mount -t tmpfs -o size=512m,mode=0700,uid=${UID},gid=${UID} tmpfs "$DATA_DIR"
mount -t tmpfs tmpfs /run
mkdir /run/chainstead-data && mount --bind "$DATA_DIR" /run/chainstead-data
mount -t tmpfs -o size=256m,mode=1777 tmpfs /tmp
mount -o remount,bind,ro /
! touch /written "$PWD/written" 2>/dev/null
export DATA_DIR=/run/chainstead-data`;
const AS_USER = `setpriv --reuid=${UID} --regid=${UID} --clear-groups --bounding-set=-all --no-new-privs`;

const isPossible = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'setpriv', '--version']).status === 0;
if (!isPossible)
  process.stderr.write('NOT RUN: the program on a read-only root file system, which takes root, unshare and setpriv\n');

it.skipIf(!isPossible)('starts, is healthy and stops where only its data and /tmp can be written', async () => {
  const data = mkdtempSync(join(tmpdir(), 'chainstead-read-only-'));
  const port = String(await freePort());
  const script = `${PREPARED}\nexec ${AS_USER} "${process.execPath}" apps/chainstead/bin/chainstead.js start`;
  const program = spawn('unshare', ['-m', 'sh', '-c', script], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: '/tmp', DATA_DIR: data, PORT: port, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const told = text(program.stderr);
  const ended = once(program, 'exit');
  try {
    const answer = vi.waitFor(
      async () => expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200),
      UNTIL_READY,
    );
    await Promise.race([answer, ended.then(async () => expect(await told).toBe('it should go on'))]);
    const healthy = spawnSync(process.execPath, ['apps/chainstead/bin/healthcheck.js'], {
      cwd: ROOT,
      env: { PORT: port },
    });
    expect(healthy.status).toBe(0);
    program.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    program.kill('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  }
});
