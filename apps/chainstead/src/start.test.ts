import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { findOldNode } from './testing/old-node.ts';
import { commandLineOf, descendantsOf, type ProgramProcess, startProgram } from './testing/program-process.ts';

// Processes start slowly on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const READY_TIMEOUT_MS = 30_000;
const chain = createScriptedChain({ seed: 7, finalityDepth: 8 });
let upstream: Awaited<ReturnType<typeof serveScriptedChain>>;
let scratch: ScratchDatabase;
let started: ProgramProcess[] = [];

beforeAll(async () => {
  chain.mine(40);
  upstream = await serveScriptedChain(chain);
  scratch = await createScratchDatabase({ migrated: false });
});

afterEach(async () => {
  for (const program of started) program.kill('SIGKILL');
  await Promise.all(started.map(({ exited }) => exited));
  started = [];
});

afterAll(async () => {
  await upstream?.close();
  await scratch?.drop();
});

function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  node = process.execPath,
): ProgramProcess {
  const program = startProgram(['start', ...args], {
    node,
    environment: {
      DATABASE_URL: scratch.url,
      PORT: '0',
      CHAINS: 'scripted',
      CHAIN_ID_SCRIPTED: '31337',
      RPC_URLS_SCRIPTED: upstream.url,
      START_BLOCK_SCRIPTED: '0',
      POLL_INTERVAL_MS_SCRIPTED: '50',
      ...environment,
    },
  });
  started.push(program);
  return program;
}

async function addressOf(program: ProgramProcess): Promise<string> {
  const match = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
  return match[1] ?? '';
}

const read = async (url: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

/** The role processes among all that the program started, directly or through the process with a sized heap. */
function roleProcesses(program: ProgramProcess): Map<string, number> {
  const roles = descendantsOf(program.pid).flatMap((pid): [string, number][] => {
    const role = /role-process\.ts (\w+)/.exec(commandLineOf(pid) ?? '')?.[1];
    return role === undefined ? [] : [[role, pid]];
  });
  return new Map(roles);
}

/** Never 0 for one that is not there: that would kill this process and its group. */
function requirePid(roles: ReadonlyMap<string, number>, role: string): number {
  const pid = roles.get(role);
  if (pid === undefined) throw new Error(`No process of the role ${role} runs`);
  return pid;
}

describe.runIf(platform() === 'linux')('chainstead start', () => {
  it('migrates, runs every role, catches up, and answers for all processes', async () => {
    const program = start([]);
    const address = await addressOf(program);
    expect([...roleProcesses(program).keys()].toSorted()).toEqual(['api', 'ingest', 'worker']);
    expect((await read(`${address}/health`)).status).toBe(200);
    await vi.waitFor(async () => expect((await read(`${address}/synced`)).status).toBe(200), READY_TIMEOUT_MS);

    const metrics = (await read(`${address}/metrics`)).text;
    expect(metrics).toMatch(/chainstead_sync_checkpoint_block\{chain="scripted",role="ingest"\} 40\b/);
    for (const role of ['api', 'ingest', 'worker'])
      expect(metrics).toMatch(new RegExp(`process_resident_memory_bytes\\{role="${role}"\\} \\d`));
    expect(metrics.match(/^# TYPE process_resident_memory_bytes /gm)).toHaveLength(1);

    const [wallet] = chain.wallets;
    const served = await fetch(`${address}/api/v2.2/${wallet}/erc20/transfers?chain=scripted`);
    const body: { result: unknown[] } = JSON.parse(await served.text());
    const sent = chain.expectedTransfers().filter(({ from, to }) => from === wallet || to === wallet);
    // NFTs whose event looks like ERC-20's disappear once the worker has asked their contracts.
    const sure = sent.filter(({ nft }) => !nft);
    expect(sure.length).toBeGreaterThan(0);
    expect(body.result.length).toBeGreaterThanOrEqual(Math.min(100, sure.length));
    expect(body.result.length).toBeLessThanOrEqual(Math.min(100, sent.length));
  });

  it('starts a killed role again while the others go on, and ends cleanly at SIGTERM', async () => {
    const program = start([]);
    const address = await addressOf(program);
    const before = roleProcesses(program);
    process.kill(requirePid(before, 'ingest'), 'SIGKILL');
    await program.waitFor(/Role process ended unexpectedly, starting it again/);
    await vi.waitFor(() => expect(roleProcesses(program).has('ingest')).toBe(true), READY_TIMEOUT_MS);
    const after = roleProcesses(program);
    expect(after.get('ingest')).not.toBe(before.get('ingest'));
    expect(after.get('api')).toBe(before.get('api'));
    expect((await read(`${address}/health`)).status).toBe(200);

    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    const [first = ''] = /Stopping; still to finish: .*/.exec(program.output()) ?? [];
    for (const work of ['requests (api)', 'blocks at work (ingest)', 'jobs and webhooks (worker)'])
      expect(first).toContain(work);
    for (const pid of after.values()) expect(commandLineOf(pid)).toBeNull();
  });

  it('takes its children with it when it is killed', async () => {
    const program = start([]);
    await addressOf(program);
    const roles = roleProcesses(program);
    expect(roles.size).toBe(3);
    program.kill('SIGKILL');
    await vi.waitFor(
      () => expect([...roles.values()].map(commandLineOf)).toEqual([null, null, null]),
      READY_TIMEOUT_MS,
    );
  });

  it('runs a single role in its own process, with /health and /metrics on METRICS_PORT', async () => {
    const program = start(['--roles', 'ingest'], { METRICS_PORT: '0' });
    const [, address = ''] = await program.waitFor(/"address":"(http:[^"]+)","msg":"Listening"/);
    expect(roleProcesses(program).size).toBe(0);
    expect((await read(`${address}/health`)).status).toBe(200);
    await vi.waitFor(
      async () =>
        expect((await read(`${address}/metrics`)).text).toContain(
          'chainstead_sync_leader{chain="scripted",role="ingest"} 1',
        ),
      READY_TIMEOUT_MS,
    );
    program.kill('SIGINT');
    expect(await program.exited).toBe(0);
  });

  it('answers for a set of roles without the API on METRICS_PORT', async () => {
    const program = start(['--roles', 'ingest,worker'], { METRICS_PORT: '0' });
    const [, address = ''] = await program.waitFor(/"address":"(http:[^"]+)","msg":"Listening"/);
    await program.waitFor(/Chainstead runs: ingest, worker/);
    const { text } = await read(`${address}/metrics`);
    for (const role of ['ingest', 'worker']) expect(text).toContain(`process_resident_memory_bytes{role="${role}"}`);
  });

  it('stops what the pinned Node runs when the old one that started it is stopped or killed', async () => {
    const old = findOldNode();
    if (old === null) {
      process.stdout.write('No Node older than 26 on this machine: the hand-over was not tried\n');
      return expect(old).toBeNull();
    }
    const stopped = start(['--roles', 'api'], {}, old);
    await addressOf(stopped);
    stopped.kill('SIGTERM');
    expect(await stopped.exited).toBe(0);

    const killed = start(['--roles', 'api'], {}, old);
    await addressOf(killed);
    const [pinned = -1] = descendantsOf(killed.pid);
    expect(commandLineOf(pinned)).toContain('main.ts');
    killed.kill('SIGKILL');
    await vi.waitFor(() => expect(commandLineOf(pinned)).toBeNull(), READY_TIMEOUT_MS);
  });

  it.each([
    ['a host that others reach, without a key', ['--roles', 'api'], { HOST: '0.0.0.0' }, 'UNSAFE_BINDING'],
    ['the same in a child process', [], { HOST: '0.0.0.0' }, 'UNSAFE_BINDING'],
    ['a role that does not exist', ['--roles', 'api,cook'], {}, 'USAGE'],
    ['a configuration that is wrong', [], { PORT: 'eighty' }, 'CONFIGURATION_INVALID'],
  ])('ends with exit code 2 for %s', async (_what, args, environment, code) => {
    const program = start(args, environment);
    expect(await program.exited).toBe(2);
    expect(program.output()).toContain(`[${code}]`);
  });

  it.each([
    ['a port', 'PORT', []],
    ['the second port of Aptos', 'APTOS_TESTNET_PORT', []],
    ['the port of metrics', 'METRICS_PORT', ['--roles', 'ingest']],
  ])('finds %s taken before it opens a database', async (_what, key, args) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-start-'));
    const program = start(args, { DATABASE_URL: '', DATA_DIR: join(folder, 'data'), [key]: port });
    expect(await program.exited).toBe(2);
    expect(program.output()).toContain(`127.0.0.1:${port} (${key}): listen EADDRINUSE`);
    expect(program.output()).toContain('[LISTEN_FAILED]');
    expect(await readdir(folder)).toEqual([]);
    other.close();
  });

  it('finds that no key can exist before it makes a database', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-start-'));
    const program = start([], { DATABASE_URL: '', DATA_DIR: join(folder, 'data'), HOST: '0.0.0.0' });
    expect(await program.exited).toBe(2);
    expect(program.output()).toContain('[UNSAFE_BINDING]');
    expect(await readdir(folder)).toEqual([]);
  });

  it('says that it opens the database, and which nodes can’t be used and why', async () => {
    const refusing = createServer((_request, response) => response.writeHead(401).end('no such key')).listen(0);
    await once(refusing, 'listening');
    const address = refusing.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const program = start([], {
      CHAINS: 'scripted,base,polygon,mine',
      RPC_URLS_SCRIPTED: `${upstream.url},http://127.0.0.1:${port}/secret-key-of-mine`,
      RPC_URLS_BASE: upstream.url,
      RPC_URLS_POLYGON: `http://127.0.0.1:${port}/secret-key-of-mine`,
      CHAIN_ID_MINE: '31338',
      RPC_URLS_MINE: 'http://127.0.0.1:1',
    });
    await program.waitFor(/Connecting to the database at postgres:/);
    await program.waitFor(/Chainstead runs: api, ingest, worker[\s\S]*\n\n/);
    const text = program.output();
    expect(text).toContain(`scripted: 127.0.0.1:${port} is left out: refused by the provider: HTTP 401`);
    expect(text).toMatch(
      /base: no node can be used: .*answers chain id 31337, not 8453 \(base\)\. Check RPC_URLS_BASE;/,
    );
    expect(text).toMatch(/polygon: no node can be used: .*refused by the provider: HTTP 401.*Check RPC_URLS_POLYGON;/);
    expect(text).toMatch(/mine: no node can be used: .*ECONNREFUSED.*Check RPC_URLS_MINE;/);
    expect(text).not.toContain('secret-key-of-mine');
    refusing.close();
  });

  it('says that START_BLOCK is above the head, and goes on from a lower one at the next start', async () => {
    const own = await createScratchDatabase();
    try {
      const far = start([], { DATABASE_URL: own.url, START_BLOCK_SCRIPTED: '99999999' });
      await far.waitFor(/scripted: START_BLOCK_SCRIPTED is 99999999, above the head 40: nothing is indexed until/);
      await far.waitFor(/"msg":"START_BLOCK is above the head: nothing is indexed until the chain gets there"/);
      const stalled = await own.database.query<{ stall_reason: string }>('SELECT stall_reason FROM sync_chains');
      expect(stalled[0]?.stall_reason).toContain('START_BLOCK is 99999999, above the head 40');
      far.kill('SIGTERM');
      await far.exited;

      const near = start([], { DATABASE_URL: own.url, START_BLOCK_SCRIPTED: '5' });
      const address = await addressOf(near);
      await vi.waitFor(async () => expect((await read(`${address}/synced`)).status).toBe(200), READY_TIMEOUT_MS);
      const [state] = await own.database.query(
        'SELECT chain_key, history_start, checkpoint, stall_reason FROM sync_chains',
      );
      expect(state).toEqual({ chain_key: 'scripted', history_start: 5, checkpoint: 40, stall_reason: null });
      near.kill('SIGTERM');
      await near.exited;
    } finally {
      await own.drop();
    }
  });

  it('ends with exit code 2 when the port is taken', async () => {
    const first = start(['--roles', 'api']);
    const { port } = new URL(await addressOf(first));
    const second = start(['--roles', 'api'], { PORT: port });
    expect(await second.exited).toBe(2);
    expect(second.output()).toContain('[LISTEN_FAILED]');
  });

  it('keeps database passwords and keys of upstreams out of everything that it writes', async () => {
    const { pathname, search } = new URL(upstream.url);
    const program = start([], {
      RPC_URLS_SCRIPTED: `${upstream.url.replace(/\/$/, '')}${pathname === '/' ? '' : pathname}/v2/hunter2${search}`,
    });
    await addressOf(program);
    program.kill('SIGTERM');
    await program.exited;
    const { password } = new URL(scratch.url);
    expect(program.output()).not.toContain('hunter2');
    if (password !== '') expect(program.output()).not.toContain(password);
  });
});
