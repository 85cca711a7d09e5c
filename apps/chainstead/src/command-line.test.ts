import { once } from 'node:events';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@chainstead/core';
import {
  createScratchDatabase,
  createScriptedChain,
  loadRecordedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProgram } from './command-line.ts';
import { runCaptured } from './testing/captured-context.ts';
import { findOldNode } from './testing/old-node.ts';
import { startProgram } from './testing/program-process.ts';
import { VERSION } from './version.ts';

const chain = createScriptedChain({ seed: 11, finalityDepth: 8 });
let node: Awaited<ReturnType<typeof serveScriptedChain>>;
let scratch: ScratchDatabase;

beforeAll(async () => {
  chain.mine(120);
  node = await serveScriptedChain(chain);
  scratch = await createScratchDatabase();
});

afterAll(async () => {
  await node?.close();
  await scratch?.drop();
});

const run = (...args: string[]) =>
  runCaptured(args, {
    DATABASE_URL: scratch.url,
    CHAINS: 'scripted',
    CHAIN_ID_SCRIPTED: '31337',
    RPC_URLS_SCRIPTED: node.url,
    REORG_DEPTH_MAX_SCRIPTED: '8',
  });

const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Has the program say which modules it loaded. */
const LIST_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      process.stderr.write('loaded ' + url + '\\n');
      return next(url, context);
    },
  });`)}`;
const DECLARES_COMMANDS = /\/commander\/|\/packages\/core\/src\/clock\.ts$|\/configuration\/role-names\.ts$/;

describe('help', () => {
  const program = createProgram({
    environment: {},
    stdout: { write: () => true },
    stderr: { write: () => true },
    clock: systemClock,
    stopSignal: new AbortController().signal,
  });
  const leaves = program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [command.name()]
      : command.commands.map((subcommand) => `${command.name()} ${subcommand.name()}`),
  );

  it.each(leaves)('of %s has examples', async (command) => {
    const { exitCode, stdout } = await runCaptured([...command.split(' '), '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Examples:\n  $ ');
    expect(stdout).toContain(`chainstead ${command}`);
  });

  it.each(['--version', '--help', ...leaves.map((command) => `${command} --help`)])(
    'loads only what declares commands for %s',
    async (line) => {
      const program = startProgram(line.split(' '), { environment: { NODE_OPTIONS: `--import=${LIST_MODULES}` } });
      expect(await program.exited).toBe(0);
      const loaded = [...program.output().matchAll(/^loaded (\S+)$/gm)].map((match) => match[1] ?? '');
      expect(loaded).toContainEqual(expect.stringContaining('/apps/chainstead/src/command-line.ts'));
      const heavy = loaded.filter((url) => /\/(packages|actions|configuration|node_modules)\//.test(url));
      expect(heavy.filter((url) => !DECLARES_COMMANDS.test(url))).toEqual([]);
    },
  );

  it('says its version', async () => {
    const { exitCode, stdout } = await runCaptured(['--version']);
    expect([exitCode, stdout]).toEqual([0, `${VERSION}\n`]);
  });

  it('works under an old system Node, which hands over to the pinned one', async () => {
    const old = findOldNode();
    if (old === null) process.stdout.write('No Node older than 26 on this machine: the hand-over was not tried\n');
    const program = startProgram(['--help'], old === null ? {} : { node: old });
    expect(await program.exited).toBe(0);
    expect(program.output()).toContain('Usage: chainstead');
  });

  it('of a wrong command says so and ends with 2', async () => {
    const { exitCode, stderr } = await runCaptured(['strat']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/unknown command 'strat'\s+\(Did you mean start\?\)/);
  });
});

describe('config', () => {
  it('validate says what is wrong and ends with 2', async () => {
    const { exitCode, stderr } = await runCaptured(['config', 'validate'], {
      PORT: 'x',
      CHAINS: 'eth',
      RPC_URL_ETH: 'y',
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('PORT is "x": is not a whole number');
  });

  it('validate warns of keys without effect and ends with 0', async () => {
    const { exitCode, stdout, stderr } = await runCaptured(['config', 'validate'], { CHAINS: 'eth', RPC_URL_ETH: 'y' });
    expect([exitCode, stdout]).toEqual([0, 'The configuration is valid. Chains: eth (1).\n']);
    expect(stderr).toContain('did you mean RPC_URLS_ETH?');
  });

  it('validate names the networks of Aptos among the chains', async () => {
    const { stdout } = await runCaptured(['config', 'validate'], {
      CHAINS: 'eth',
      APTOS_NODE_URL: 'http://127.0.0.1:9',
      APTOS_TESTNET_NODE_URL: 'http://127.0.0.1:9',
    });
    expect(stdout).toContain('Chains: eth (1), aptos, aptos-testnet.');
  });

  it('print shows what is in force, as lines or JSON', async () => {
    const environment = { CHAINS: 'eth', API_KEYS: 'very-secret-key' };
    const lines = await runCaptured(['config', 'print'], environment);
    expect(lines.stdout).toContain('API_KEYS=[redacted]  # environment\n');
    const json = await runCaptured(['config', 'print', '--json'], environment);
    expect(JSON.parse(json.stdout)).toMatchObject({ PORT: { value: '8080', origin: 'default' } });
  });

  it('reads the file of --config', async () => {
    const { exitCode, stderr } = await runCaptured(['--config', '/nowhere/x.env', 'config', 'validate']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('/nowhere/x.env');
  });
});

describe('migrate', () => {
  it('applies what is missing once', async () => {
    const empty = await createScratchDatabase({ migrated: false });
    try {
      const first = await runCaptured(['migrate'], { DATABASE_URL: empty.url });
      expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('applied 0000_spine')]);
      const second = await runCaptured(['migrate'], { DATABASE_URL: empty.url });
      expect(second.stdout).toBe('The schema was up to date.\n');
    } finally {
      await empty.drop();
    }
  });

  it('is what other commands ask for on a database without tables', async () => {
    const empty = await createScratchDatabase({ migrated: false });
    try {
      const { exitCode, stderr } = await runCaptured(['status'], { DATABASE_URL: empty.url });
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Run "chainstead migrate"')]);
    } finally {
      await empty.drop();
    }
  });
});

describe('a database that does not answer', () => {
  it('is named without its password', async () => {
    const { exitCode, stderr } = await runCaptured(['status'], { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^chainstead: The database at postgres:\/\/127\.0\.0\.1:1 can't be reached: .*\[DATABASE_UNREACHABLE\]\n$/,
    );
    expect(stderr).not.toContain('hunter2');
  });
});

describe('keys', () => {
  it('are made, listed and revoked, and the key itself is shown once', async () => {
    const created = await run('keys', 'create', '--name', 'web shop');
    const key = created.stdout.trim();
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    const listed = await run('keys', 'list');
    expect(listed.stdout).toMatch(new RegExp(`${key.slice(0, 8)}….*web shop.*active`));
    expect(listed.stdout).not.toContain(key);
    expect((await run('keys', 'revoke', key.slice(0, 8))).stdout).toContain('Revoked');
    expect(JSON.parse((await run('keys', 'list', '--json')).stdout)[0].revokedAt).not.toBeNull();
    expect((await run('keys', 'revoke', 'ffffffff')).exitCode).toBe(1);
  });

  it('are made for some scopes, and narrowed later', async () => {
    const made = await run('keys', 'create', '--name', 'page', '--scope', 'rpc,data', '--scope', 'streams');
    const prefix = made.stdout.slice(0, 8);
    expect((await run('keys', 'list')).stdout).toMatch(new RegExp(`${prefix}… +page +data,rpc,streams +`));
    expect((await run('keys', 'scope', prefix, '--scope', 'rpc')).stdout).toBe(
      `${prefix}… (page) may be used for rpc.\n`,
    );
    expect((await run('keys', 'list')).stdout).toMatch(new RegExp(`${prefix}… +page +rpc +`));
    expect((await run('keys', 'create', '--scope', 'everything')).exitCode).toBe(2);
  });

  it('show what they called of the gateway, summed up or by day', async () => {
    await scratch.database.query(
      `INSERT INTO gateway_usage (key_id, day, chain_id, method, calls, errors, cached, weight, bytes)
       SELECT '0123abcd', (now() AT TIME ZONE 'UTC')::date - ago, 8453, 'eth_call', 5, 1, 2, 10, 700 FROM generate_series(0, 2) AS ago`,
    );
    expect((await run('keys', 'usage')).stdout).toMatch(/^0123abcd +base +eth_call +15 +3 +6 +30 +2,100$/m);
    const days = JSON.parse((await run('keys', 'usage', '--days', '2', '--json')).stdout);
    expect(days).toHaveLength(2);
    expect(days[0]).toMatchObject({ keyId: '0123abcd', chainId: 8453, method: 'eth_call', calls: 5, bytes: 700 });
    expect((await run('keys', 'usage', '--days', 'many')).exitCode).toBe(2);
  });
});

describe('work on ranges', () => {
  it('backfills, lists gaps, verifies and reindexes, telling progress as JSON lines', async () => {
    const backfill = await run('backfill', '--chain', 'scripted', '--range', '0-19', '--range', '40-59');
    expect([backfill.exitCode, backfill.stderr]).toEqual([0, '']);
    const lines = jsonLines(backfill.stdout);
    expect(lines.at(-1)).toMatchObject({ work: 'backfill', chain: 'scripted', blocks: 40, finished: true });
    expect(lines.slice(0, -1).at(-1)).toMatchObject({ done: 40, total: 40, unit: 'blocks' });

    const rows = await scratch.database.query<{ blocks: number }>(
      'SELECT count(DISTINCT block_number) AS blocks FROM erc20_transfers WHERE block_number BETWEEN 20 AND 39',
    );
    expect(rows).toEqual([{ blocks: 0 }]);

    const reindex = await run(
      'reindex',
      '--chain',
      '31337',
      '--from',
      '0',
      '--to',
      '19',
      '--dataset',
      'erc20-transfers',
    );
    expect(jsonLines(reindex.stdout).at(-1)).toMatchObject({
      work: 'reindex',
      blocks: 20,
      datasets: ['erc20-transfers'],
    });

    const verify = await run('verify', '--chain', 'scripted', '--from', '40', '--to', '59');
    expect(jsonLines(verify.stdout).at(-1)).toMatchObject({ work: 'verify', levels: { receipts: 20 }, repairs: [] });
    expect(verify.exitCode).toBe(0);
  });

  it('leaves indexes out of a bulk backfill and builds them afterwards', async () => {
    const indexes = (): Promise<object[]> =>
      scratch.database.query("SELECT indexname FROM pg_indexes WHERE indexname = 'erc20_transfers_by_token'");
    const bulk = await run('backfill', '--chain', 'scripted', '--from', '60', '--to', '79', '--bulk');
    expect([bulk.exitCode, bulk.stderr]).toEqual([0, expect.stringContaining('building erc20_transfers_by_token')]);
    expect(await indexes()).toHaveLength(1);

    await scratch.database.query('DROP INDEX erc20_transfers_by_token');
    const built = await run('indexes');
    expect(jsonLines(built.stdout)).toEqual([{ work: 'indexes', built: ['erc20_transfers_by_token'], finished: true }]);
    expect(await indexes()).toHaveLength(1);
  });

  it('fails to verify what is not indexed, saying how much', async () => {
    const { exitCode, stderr } = await run('verify', '--chain', 'scripted', '--from', '79', '--to', '80');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('1 are not indexed');
  });

  it.each([
    [['reindex', '--chain', 'scripted', '--from', '0', '--to', '1', '--dataset', 'nfts'], 'There is no dataset nfts'],
    [['backfill', '--chain', 'scripted'], 'No block range given'],
    [['backfill', '--chain', 'unheard-of', '--from', '1', '--to', '2'], 'unheard-of'],
  ])('ends with 2 for %j', async (args, message) => {
    const { exitCode, stderr } = await run(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('record', () => {
  it('writes blocks that the recorded-chain node can load', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-record-'));
    const { exitCode, stdout, stderr } = await run(
      'record',
      '--chain',
      'scripted',
      '--from',
      '3',
      '--to',
      '5',
      '--out',
      folder,
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ work: 'record', blocks: 3 });
    expect(JSON.parse(await readFile(join(folder, 'chain-ids.json'), 'utf8'))).toEqual({ scripted: 31337 });
    const block: { hash: string; transactions: unknown[] } = JSON.parse(
      await readFile(join(folder, 'scripted/4/block.json'), 'utf8'),
    );
    expect(block.hash).toBe(chain.blockAt(4)?.hash);
    const receipts: unknown[] = JSON.parse(await readFile(join(folder, 'scripted/4/receipts.json'), 'utf8'));
    expect(receipts).toHaveLength(block.transactions.length);
    expect(await loadRecordedChain({ folder, chain: 'scripted' })).toBeDefined();
  });
});

describe('import', () => {
  const list = JSON.stringify({
    name: 'Test list',
    timestamp: '2026-01-01T00:00:00Z',
    version: { major: 1, minor: 0, patch: 0 },
    tokens: [
      {
        chainId: 31337,
        address: `0x${'ab'.repeat(20)}`,
        name: 'Listed',
        symbol: 'LST',
        decimals: 6,
        logoURI: 'https://l.example/x.png',
      },
    ],
  });

  it('takes a file or a URL, and replaces what came from the same source', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-import-'));
    const path = join(folder, 'list.json');
    await writeFile(path, list);
    const { exitCode, stdout, stderr } = await run('import', 'token-list', path, '--source', 'mine');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(jsonLines(stdout)).toEqual([
      expect.objectContaining({ work: 'import', source: 'mine', rows: 1, finished: true }),
    ]);

    const server = createServer((_request, response) => response.end(list)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      expect((await run('import', 'token-list', `http://127.0.0.1:${port}/`, '--source', 'mine')).exitCode).toBe(0);
    } finally {
      server.close();
    }
    const rows = await scratch.database.query('SELECT source, symbol FROM token_list_entries');
    expect(rows).toEqual([{ source: 'mine', symbol: 'LST' }]);
  });

  it.each([
    [['import', 'recipes', './x.json'], 2, 'Allowed choices are token-list, labels, spam'],
    [['import', 'spam', './x.json', '--chain', 'atlantis'], 2, '--chain atlantis is not a known chain'],
    [['import', 'spam', '/nowhere/x.json'], 1, '[PLACE_UNREADABLE]'],
  ])('refuses %j', async (args, code, message) => {
    const { exitCode, stderr } = await run(...args);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});

describe('status and gaps', () => {
  it('name chains that are not configured here, and ask for no upstream of those that are', async () => {
    const other = await createScratchDatabase();
    try {
      await other.database.query(
        `INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint)
         VALUES (31337, 'ours', 0, 0, 5), (1, 'eth', 0, 0, 5)`,
      );
      const environment = { DATABASE_URL: other.url };
      expect((await runCaptured(['status'], environment)).stdout).toMatch(
        /eth \(1\), as of[\s\S]*ours \(31337\), as of/,
      );
      expect((await runCaptured(['gaps'], environment)).stdout).toMatch(/^Nothing is missing/);
      const configured = { ...environment, CHAINS: 'mine', CHAIN_ID_MINE: '31337' };
      for (const command of [['status'], ['gaps'], ['keys', 'list'], ['migrate'], ['indexes']])
        expect([command, (await runCaptured(command, configured)).exitCode]).toEqual([command, 0]);
      expect((await runCaptured(['status'], configured)).stdout).toContain('mine (31337), as of');
      const needs = ['backfill', '--chain', 'mine', '--from', '0', '--to', '1'];
      expect((await runCaptured(needs, configured)).stderr).toContain('RPC_URLS_MINE is missing');
    } finally {
      await other.drop();
    }
  });

  it('tell how many streams there are, what waits to be sent, and which of them fail', async () => {
    const other = await createScratchDatabase();
    try {
      await other.database.query(
        `INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs,
           include_contract_logs, include_internal_txs, include_all_tx_logs, filter_possible_spam_addresses,
           get_native_balances, demo, status, status_message, deleted_at)
         SELECT gen_random_uuid(), 'https://a.example', '', 'tag of ' || status, '{1}', false, true, false, false, false,
           false, '[]', false, status, 'because', deleted_at
           FROM (VALUES ('active', NULL::timestamptz), ('active', NULL), ('paused', NULL), ('error', NULL), ('active', now()))
             AS given (status, deleted_at)`,
      );
      await other.database.query(
        `INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind, status, due_at)
         SELECT gen_random_uuid(), id, 1, number, '\\x00', 'confirmed', CASE number WHEN 1 THEN 'delivered' ELSE 'pending' END, now()
           FROM streams, generate_series(1, 3) AS number WHERE status = 'paused'`,
      );
      const { stdout } = await runCaptured(['status'], { DATABASE_URL: other.url });
      expect(stdout).toMatch(/^streams\n {2}2 active, 1 error, 1 paused; 2 webhooks pending\n/m);
      expect(stdout).toMatch(/^ {4}[0-9a-f-]{36} \(tag of error\) error: because$/m);
      const { streams } = JSON.parse((await runCaptured(['status', '--json'], { DATABASE_URL: other.url })).stdout);
      expect(streams).toMatchObject({ active: 2, paused: 1, error: 1, terminated: 0, webhooks_pending: 2 });
    } finally {
      await other.drop();
    }
  });

  it('make no database where there is none, and say what to do', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-none-'));
    vi.stubEnv('TMPDIR', folder);
    try {
      for (const command of ['status', 'gaps']) {
        const { exitCode, stderr } = await runCaptured([command], { DATA_DIR: join(folder, 'data') });
        expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`There is no database in ${folder}/data yet`)]);
      }
      expect(await readdir(folder)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('tell of a chain that was never ingested', async () => {
    const other = await createScratchDatabase();
    try {
      const environment = { DATABASE_URL: other.url };
      expect((await runCaptured(['status'], environment)).stdout).toContain('No chain has been ingested yet');
      expect((await runCaptured(['gaps'], environment)).stdout).toContain('No chain has been ingested yet');
      expect(JSON.parse((await runCaptured(['gaps', '--json'], environment)).stdout)).toEqual([]);
    } finally {
      await other.drop();
    }
  });
});
