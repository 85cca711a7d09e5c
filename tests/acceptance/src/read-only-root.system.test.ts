/** The program as the container runs it, without one: an ordinary user, no capabilities, and nothing that can be written but its two folders. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '@chainstead/testkit';
import { expect, it, vi } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ENTRY = join(ROOT, 'apps/chainstead/bin/chainstead.js');
const UID = 1_000;
const UNTIL_READY = { timeout: 80_000, interval: 250 };

/**
 * Mounts in a separate name space. The data folder, the program and Node each get a path below `/run`, which every user may enter. The reason:
 * the clone may lie below `/tmp`, or below a folder that only root may enter. Everything but the data and `/tmp` is read-only.
 */
const PREPARED = `
set -e
mount --make-rprivate /
mount -t tmpfs -o size=512m,mode=0700,uid=${UID},gid=${UID} tmpfs "$DATA_DIR"
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir /run/data /run/program
touch /run/node
mount --bind "$DATA_DIR" /run/data
mount --bind "$PWD" /run/program
mount --bind "$NODE" /run/node
mount -o remount,bind,ro /run/program
mount -o remount,bind,ro /run/node
mount -t tmpfs -o size=256m,mode=1777 tmpfs /tmp
mount -o remount,bind,ro /
cd /run/program
for folder in / /run/program; do
  if touch "$folder/written" 2>/dev/null; then echo "$folder can be written" >&2; exit 1; fi
done
export DATA_DIR=/run/data`;
const AS_USER = `setpriv --reuid=${UID} --regid=${UID} --clear-groups --bounding-set=-all --no-new-privs`;

/** Returns the reason why this machine can't run the test, or null. */
function findObstacle(): string | null {
  if (process.getuid?.() !== 0) return 'needs root';
  if (spawnSync('unshare', ['-m', 'setpriv', '--version']).status !== 0) return 'needs unshare and setpriv';
  return (statSync(ENTRY).mode & 0o004) === 0 ? 'needs a clone that other users may read' : null;
}

const TITLE = 'starts, is healthy and stops where only its data and /tmp can be written';
const obstacle = findObstacle();

it.skipIf(obstacle !== null)(obstacle === null ? TITLE : `${TITLE} (${obstacle})`, async () => {
  const data = mkdtempSync(join(tmpdir(), 'chainstead-read-only-'));
  const port = String(await freePort());
  const script = `${PREPARED}\nexec ${AS_USER} /run/node apps/chainstead/bin/chainstead.js start`;
  const program = spawn('unshare', ['-m', 'sh', '-c', script], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: '/tmp',
      NODE: process.execPath,
      DATA_DIR: data,
      PORT: port,
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const reported = text(program.stderr);
  const ended = once(program, 'exit');
  try {
    const answer = vi.waitFor(
      async () => expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200),
      UNTIL_READY,
    );
    await Promise.race([answer, ended.then(async () => expect(await reported).toBe('it should go on'))]);
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
