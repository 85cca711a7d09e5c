import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import {
  commandLineOf,
  createScratchDatabase,
  createScriptedChain,
  descendantsOf,
  type Program,
  type ScratchDatabase,
  serveScriptedChain,
  startProgram,
  startScratchServer,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findOldNode } from '../testing/old-node.ts';

// Processes start slowly on a busy machine.
const READY_TIMEOUT_MS = 60_000;
const chain = createScriptedChain({ seed: 7, finalityDepth: 8 });
let upstream: Awaited<ReturnType<typeof serveScriptedChain>>;
let scratch: ScratchDatabase;
let dataDirectory: string;
const started: Program[] = [];

beforeAll(async () => {
  chain.mine(40);
  upstream = await serveScriptedChain(chain);
  scratch = await createScratchDatabase({ migrated: false });
  dataDirectory = await mkdtemp(join(tmpdir(), 'chainstead-start-'));
});

afterAll(async () => {
  await endAll();
  await upstream?.close();
  await scratch?.drop();
  await rm(dataDirectory, { recursive: true, force: true });
});

async function endAll(): Promise<void> {
  const ending = started.splice(0);
  for (const program of ending) program.signal('SIGKILL');
  await Promise.all(ending.map(({ exited }) => exited));
}

function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  node = process.execPath,
  entry?: string,
): Program {
  const program = startProgram(['start', ...args], {
    node,
    ...(entry !== undefined && { entry }),
    environment: {
      DATABASE_URL: scratch.url,
      DATA_DIR: dataDirectory,
      PORT: '0',
      CHAINS: 'scripted',
      CHAIN_ID_SCRIPTED: '31337',
      RPC_URLS_SCRIPTED: upstream.url,
      // Its transactions have no signatures.
      SWAPS_SCRIPTED: 'off',
      START_BLOCK_SCRIPTED: '0',
      POLL_INTERVAL_MS: '50',
      ...environment,
    },
  });
  started.push(program);
  return program;
}

async function addressOf(program: Program): Promise<string> {
  const match = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
  return match[1] ?? '';
}

const read = async (url: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

/** The role processes among all that the program started, directly or through the process with a sized heap. */
function roleProcesses(program: Program): Map<string, number> {
  const roles = descendantsOf(program.pid).flatMap((pid): [string, number][] => {
    const role = /role-process\.[jt]s (\w+)/.exec(commandLineOf(pid) ?? '')?.[1];
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

describe.runIf(platform() === 'linux')('chainstead start, with a node that works and some that do not', () => {
  const SECRET = 'hunter2';
  const refusing = createServer((_request, response) => response.writeHead(401).end('no such key'));
  let refused: string;
  let program: Program;
  let address: string;

  beforeAll(async () => {
    refusing.listen(0, '127.0.0.1');
    await once(refusing, 'listening');
    const listening = refusing.address();
    refused = `127.0.0.1:${typeof listening === 'object' && listening !== null ? listening.port : 0}`;
    program = start([], {
      CHAINS: 'scripted,base,polygon,mine',
      RPC_URLS_SCRIPTED: `${upstream.url},http://${refused}/${SECRET}`,
      RPC_URLS_BASE: upstream.url,
      RPC_URLS_POLYGON: `http://${refused}/${SECRET}`,
      CHAIN_ID_MINE: '31338',
      RPC_URLS_MINE: 'http://127.0.0.1:1',
    });
    address = await addressOf(program);
  });
  afterAll(async () => {
    await endAll();
    refusing.close();
  });

  it('says that it opens the database, and which nodes can’t be used and why', async () => {
    await program.waitFor(/Connecting to the database at postgres:/);
    await program.waitFor(/Chainstead runs: api, ingest, worker[\s\S]*\n\n/);
    const text = program.output();
    expect(text).toContain(`${refused} is not used: refused by the provider: HTTP 401`);
    expect(text).toMatch(
      /base +no usable node: .*answers chain id 31337, not 8453 \(base\)\n.*\n +Check RPC_URLS_BASE\./,
    );
    expect(text).toMatch(
      /polygon +no usable node: .*refused by the provider: HTTP 401.*\n.*\n +Check RPC_URLS_POLYGON\./,
    );
    expect(text).toMatch(/mine +no usable node: .*ECONNREFUSED.*\n.*\n +Check RPC_URLS_MINE\./);
  });

  it('migrates, runs every role, catches up, and answers for all processes', async () => {
    expect([...roleProcesses(program).keys()].toSorted()).toEqual(['api', 'ingest', 'worker']);
    expect((await read(`${address}/health`)).status).toBe(200);
    // A process that does not respond in time is left out.
    const metrics = await vi.waitFor(async () => {
      const { text } = await read(`${address}/metrics`);
      expect(text).toMatch(/chainstead_sync_checkpoint_block\{chain="scripted",role="ingest"\} 40\b/);
      for (const role of ['start', 'api', 'ingest', 'worker'])
        expect(text).toMatch(new RegExp(`process_resident_memory_bytes\\{role="${role}"\\} \\d`));
      return text;
    }, READY_TIMEOUT_MS);
    expect(metrics.match(/^# TYPE process_resident_memory_bytes /gm)).toHaveLength(1);

    const [wallet] = chain.wallets;
    const sent = chain.expectedTransfers().filter(({ from, to }) => from === wallet || to === wallet);
    // NFTs whose event looks like ERC-20's disappear once the worker has asked their contracts.
    const sure = sent.filter(({ nft }) => !nft);
    expect(sure.length).toBeGreaterThan(0);
    await vi.waitFor(async () => {
      const served = await fetch(`${address}/api/v2.2/${wallet}/erc20/transfers?chain=scripted`);
      const body: { result: unknown[] } = JSON.parse(await served.text());
      expect(body.result.length).toBeGreaterThanOrEqual(Math.min(100, sure.length));
      expect(body.result.length).toBeLessThanOrEqual(Math.min(100, sent.length));
    }, READY_TIMEOUT_MS);
  });

  it('starts a killed role again while the others go on, and ends cleanly at SIGTERM', async () => {
    const before = roleProcesses(program);
    process.kill(requirePid(before, 'ingest'), 'SIGKILL');
    await program.waitFor(/Role process ended unexpectedly, restarting it/);
    await vi.waitFor(() => expect(roleProcesses(program).has('ingest')).toBe(true), READY_TIMEOUT_MS);
    const after = roleProcesses(program);
    expect(after.get('ingest')).not.toBe(before.get('ingest'));
    expect(after.get('api')).toBe(before.get('api'));
    expect((await read(`${address}/health`)).status).toBe(200);

    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    const [first = ''] = /Stopping\. Waiting for .*/.exec(program.output()) ?? [];
    for (const work of ['requests (api)', 'blocks in progress (ingest)', 'jobs and webhooks (worker)'])
      expect(first).toContain(work);
    for (const pid of after.values()) expect(commandLineOf(pid)).toBeNull();
  });

  it('wrote a key for the console at its first start, which only its user reads, and stays open to this machine', async () => {
    const [, path = ''] = /\/console, with the key in (\S+)\n/.exec(program.output()) ?? [];
    const key = (await readFile(path, 'utf8')).trim();
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(program.output()).not.toContain(key);
    const known = await scratch.database.query(sql`SELECT by_start, scopes FROM api_keys`);
    expect(known).toEqual([{ byStart: true, scopes: ['admin'] }]);
  });

  it('kept database passwords and keys of upstreams out of everything that it wrote', () => {
    const { password } = new URL(scratch.url);
    expect(program.output()).not.toContain(SECRET);
    if (password !== '') expect(program.output()).not.toContain(password);
  });
});

describe.runIf(platform() === 'linux')('chainstead start, with START_BLOCK above the head', () => {
  const own = scratchOfFile();
  let far: Program;
  const state = () =>
    own.database.query(sql`SELECT chain_key, history_start, checkpoint, stall_reason FROM sync_chains`);

  beforeAll(async () => {
    far = start([], { DATABASE_URL: own.url, START_BLOCK_SCRIPTED: '99999999' });
    await addressOf(far);
  });
  afterAll(async () => {
    await endAll();
  });

  it('says so', async () => {
    await far.waitFor(
      /scripted +START_BLOCK_SCRIPTED is 99999999, above the head 40\n +Nothing is indexed until/,
    );
    await far.waitFor(/"msg":"START_BLOCK is above the head: nothing is indexed until the chain reaches it"/);
    await vi.waitFor(
      async () =>
        expect(await state()).toMatchObject([
          { stallReason: expect.stringContaining('START_BLOCK is 99999999, above the head 40') },
        ]),
      READY_TIMEOUT_MS,
    );
  });

  it('takes its children with it when it is killed', async () => {
    const roles = roleProcesses(far);
    expect(roles.size).toBe(3);
    far.signal('SIGKILL');
    await vi.waitFor(
      () => expect([...roles.values()].map(commandLineOf)).toEqual([null, null, null]),
      READY_TIMEOUT_MS,
    );
  });

  it('goes on from a lower one at the next start', async () => {
    const near = start([], { DATABASE_URL: own.url, START_BLOCK_SCRIPTED: '5' });
    const address = await addressOf(near);
    await vi.waitFor(async () => expect((await read(`${address}/synced`)).status).toBe(200), READY_TIMEOUT_MS);
    expect(await state()).toEqual([{ chainKey: 'scripted', historyStart: 5, checkpoint: 40, stallReason: null }]);
  });
});

describe.runIf(platform() === 'linux')('chainstead start, with some roles', () => {
  afterEach(endAll);

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
    program.signal('SIGINT');
    expect(await program.exited).toBe(0);
  });

  it('warns of more connections than the server has', async () => {
    const server = await startScratchServer({ settings: { max_connections: '14' } });
    const { url } = await server.createDatabase();
    const program = start(['--roles', 'api'], { DATABASE_URL: url });
    onTestFinished(async () => {
      await endAll();
      await server.stop();
    });
    await program.waitFor(
      /may open 12 connections to Postgres, which has \d+ left of 14\. Raise max_connections/,
    );
  });

  it.each([
    ['a supervised API', []],
    ['an API alone', ['--roles', 'api']],
  ])('moves /metrics of %s to METRICS_PORT, with /health and /ready', async (_what, args) => {
    const program = start(args, {
      METRICS_PORT: '0',
      API_KEYS: 'key-of-a-client',
      METRICS_KEY: 'key-of-prometheus',
    });
    const address = await addressOf(program);
    const [, metrics = ''] = await program.waitFor(/Metrics {3}(http:\S+)\/metrics/);
    expect(metrics).not.toBe(address);
    const statusOf = async (url: string, key = ''): Promise<number> =>
      (await fetch(url, { headers: { 'x-api-key': key } })).status;
    expect(await statusOf(`${address}/metrics`, 'key-of-prometheus')).toBe(404);
    expect([await statusOf(`${address}/ready`), await statusOf(`${metrics}/ready`)]).toEqual([200, 200]);
    expect(await statusOf(`${metrics}/health`)).toBe(200);
    expect(await statusOf(`${metrics}/metrics`)).toBe(401);
    const roles = args.length === 0 ? ['start', 'api', 'ingest', 'worker'] : ['api'];
    await vi.waitFor(async () => {
      const answer = await fetch(`${metrics}/metrics`, {
        headers: { authorization: 'Bearer key-of-prometheus' },
      });
      const text = await answer.text();
      for (const role of roles) expect(text).toContain(`process_resident_memory_bytes{role="${role}"}`);
      expect(text).toMatch(/^chainstead_http_requests_total\{[^}]*role="api"\} /m);
    }, READY_TIMEOUT_MS);
  });

  it('closes /metrics of an address that other machines reach, unless METRICS_PORT takes it elsewhere', async () => {
    const keyed = { HOST: '0.0.0.0', API_KEYS: 'key-of-a-client' };
    const closed = start(['--roles', 'api'], keyed);
    const { port } = new URL(await addressOf(closed));
    expect((await read(`http://127.0.0.1:${port}/metrics`)).status).toBe(403);
    const moved = start(['--roles', 'api'], { ...keyed, METRICS_PORT: '0' });
    const [, metricsPort = ''] = await moved.waitFor(/Metrics {3}http:\S+:(\d+)\/metrics, without a key/);
    expect((await read(`http://127.0.0.1:${metricsPort}/metrics`)).status).toBe(200);
  });

  it('ends with the shell that npm started it by, which passes no signal on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-shell-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const shell = join(folder, 'run.sh');
    const entry = join(import.meta.dirname, '../../bin/chainstead.js');
    await writeFile(shell, `"${process.execPath}" "${entry}" "$@"\nexit $?\n`);
    const program = start(['--roles', 'api'], { npm_command: 'exec' }, '/bin/sh', shell);
    await addressOf(program);
    const processes = descendantsOf(program.pid);
    expect(processes.length).toBeGreaterThan(0);
    program.signal('SIGTERM');
    const isAlive = (pid: number): boolean => commandLineOf(pid) !== null;
    await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), {
      timeout: READY_TIMEOUT_MS,
      interval: 100,
    });
  });

  it('answers for a set of roles without the API on METRICS_PORT', async () => {
    const program = start(['--roles', 'ingest,worker'], { METRICS_PORT: '0' });
    const [, address = ''] = await program.waitFor(/"address":"(http:[^"]+)","msg":"Listening"/);
    await program.waitFor(/Chainstead runs: ingest, worker/);
    await vi.waitFor(async () => {
      const { text } = await read(`${address}/metrics`);
      for (const role of ['start', 'ingest', 'worker'])
        expect(text).toContain(`process_resident_memory_bytes{role="${role}"}`);
    }, READY_TIMEOUT_MS);
  });

  it('stops what the pinned Node runs when the old one that started it is stopped or killed', async () => {
    const old = findOldNode();
    if (old === null) {
      process.stdout.write('No Node older than 26 on this machine: the hand-over was not tried\n');
      return expect(old).toBeNull();
    }
    const stopped = start(['--roles', 'api'], {}, old);
    await addressOf(stopped);
    stopped.signal('SIGTERM');
    expect(await stopped.exited).toBe(0);

    const killed = start(['--roles', 'api'], {}, old);
    await addressOf(killed);
    const [pinned = -1] = descendantsOf(killed.pid);
    expect(commandLineOf(pinned)).toMatch(/--expose-gc .*chainstead\.js/);
    killed.signal('SIGKILL');
    await vi.waitFor(() => expect(commandLineOf(pinned)).toBeNull(), READY_TIMEOUT_MS);
  });

  it('ends with exit code 2 for a configuration that is wrong', async () => {
    const program = start([], { PORT: 'eighty' });
    expect(await program.exited).toBe(2);
    expect(program.output()).toContain('[CONFIGURATION_INVALID]');
  });
});
