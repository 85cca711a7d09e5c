/** The container image: built, and run as an ordinary user with a read-only root file system. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CONTAINER_HOOK_MS_MAX, findDockerDaemon } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const IMAGE = 'chainstead:test';
const KEY = 'a-key-for-the-test-of-the-image';
const UNTIL_HEALTHY = { timeout: 120_000, interval: 500 };
/** An image is built from nothing. */
const BUILD_MS_MAX = 3 * CONTAINER_HOOK_MS_MAX;

const daemon = await findDockerDaemon('the container image, built and run with a read-only root file system');
const docker = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('docker', [...args], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();

describe.runIf(daemon)('the container image', () => {
  let container = '';

  beforeAll(async () => {
    await docker('build', '--quiet', '--tag', IMAGE, '.');
    container = await docker(
      ...['run', '--detach', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
      ...['--security-opt', 'no-new-privileges', '--env', 'HOST=0.0.0.0', '--env', `API_KEYS=${KEY}`],
      ...['--publish', '127.0.0.1::8080', IMAGE],
    );
  }, BUILD_MS_MAX);
  afterAll(async () => {
    if (container !== '') await docker('rm', '--force', '--volumes', container);
  });

  it('becomes healthy, with its own Postgres', async () => {
    await vi.waitFor(
      async () =>
        expect(await docker('inspect', '--format', '{{.State.Health.Status}}', container)).toBe('healthy'),
      UNTIL_HEALTHY,
    );
  });

  it('runs as an ordinary user, and can write neither to its program nor to the system', async () => {
    expect(await docker('exec', container, 'id', '-un')).toBe('node');
    for (const file of ['/app/written', '/usr/written'])
      await expect(docker('exec', container, 'touch', file)).rejects.toThrow(/Read-only file system/);
  });

  it('serves the API to whoever has a key', async () => {
    const address = await docker('port', container, '8080/tcp');
    const ask = (headers: Record<string, string>) =>
      fetch(`http://${address.split('\n')[0]}/api/v2.2/info/endpointWeights`, { headers });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ 'x-api-key': KEY })).status).toBe(200);
  });

  it('holds no tests and no development tools', async () => {
    const list = 'find /app/apps /app/packages -name "*.test.ts"; ls /app/node_modules';
    const files = (await docker('run', '--rm', '--entrypoint', 'sh', IMAGE, '-c', list)).split('\n');
    expect(files).toContain('viem');
    expect(files.filter((file) => /^(?:vitest|knip|@biomejs)$|\.test\.ts$/.test(file))).toEqual([]);
  });

  it('finishes what it does when it is stopped', async () => {
    await docker('stop', '--time', '30', container);
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', container)).toBe('0');
  });
});
