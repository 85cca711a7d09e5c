import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { createScratchDatabase } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type CommandOutcome, runCaptured } from '../testing/captured-context.ts';

// The first start loads the whole program.
const scratch = scratchOfFile();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-start-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const start = (args: readonly string[], environment: Readonly<Record<string, string>>): Promise<CommandOutcome> =>
  runCaptured(['start', ...args], {
    PORT: '0',
    CHAINS: 'scripted',
    CHAIN_ID_SCRIPTED: '31337',
    RPC_URLS_SCRIPTED: 'http://127.0.0.1:1',
    LOG_LEVEL: 'silent',
    ...environment,
  });
/** Over an embedded database that does not exist yet. */
const startAnew = (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CommandOutcome> => start(args, { DATA_DIR: join(folder, 'data'), ...environment });

describe('chainstead start', () => {
  it.each([
    ['a host that others reach, without a key', ['--roles', 'api'], { HOST: '0.0.0.0' }, 'UNSAFE_BINDING'],
    ['the same beside other roles', [], { HOST: '0.0.0.0' }, 'UNSAFE_BINDING'],
    ['a role that does not exist', ['--roles', 'api,cook'], {}, 'USAGE'],
    ['a configuration that is wrong', [], { PORT: 'eighty' }, 'CONFIGURATION_INVALID'],
  ])('ends with exit code 2 for %s', async (_what, args, environment, code) => {
    const { exitCode, stderr } = await start(args, { DATABASE_URL: scratch.url, ...environment });
    expect(exitCode, stderr).toBe(2);
    expect(stderr).toContain(`[${code}]`);
  });

  it.each([
    ['a port', 'PORT', []],
    ['the second port of Aptos', 'APTOS_TESTNET_PORT', []],
    ['the port of metrics', 'METRICS_PORT', ['--roles', 'ingest']],
    ['the port of metrics beside the API', 'METRICS_PORT', []],
  ])('finds %s taken before it opens a database', async (_what, key, args) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const { exitCode, stderr } = await startAnew(args, { [key]: port });
    expect(exitCode, stderr).toBe(2);
    expect(stderr).toContain(`127.0.0.1:${port} (${key}): listen EADDRINUSE`);
    expect(stderr).toContain('[LISTEN_FAILED]');
    expect(await readdir(folder)).toEqual([]);
    other.close();
  });

  it('finds that two of its own ports are one, and names the second', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const address = free.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    free.close();
    await once(free, 'close');
    const { exitCode, stderr } = await startAnew([], { PORT: port, METRICS_PORT: port });
    expect(exitCode, stderr).toBe(2);
    expect(stderr).toContain(`127.0.0.1:${port} (METRICS_PORT): listen EADDRINUSE`);
  });

  it('names METRICS_HOST where that is no address of this machine', async () => {
    const { exitCode, stderr } = await startAnew([], { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' });
    expect(exitCode, stderr).toBe(2);
    expect(stderr).toContain('Set METRICS_HOST to an address of this machine');
  });

  it('finds that a table is not as its dataset says, before the first block', async () => {
    const other = await createScratchDatabase();
    onTestFinished(() => other.drop());
    await other.database.query(sql`ALTER TABLE erc20_approvals RENAME COLUMN spender TO grantee`);
    const { exitCode, stderr } = await start([], { DATABASE_URL: other.url });
    expect(exitCode, stderr).not.toBe(0);
    expect(stderr).toContain('[DATASET_TABLES_DIFFER]');
    expect(stderr).toMatch(/erc20_approvals has no column spender.*migrations\/0000_initial\.sql:\d+/);
  });

  it('finds that no key can exist before it makes a database', async () => {
    const { exitCode, stderr } = await startAnew([], { HOST: '0.0.0.0' });
    expect(exitCode, stderr).toBe(2);
    expect(stderr).toContain('[UNSAFE_BINDING]');
    expect(await readdir(folder)).toEqual([]);
  });
});
