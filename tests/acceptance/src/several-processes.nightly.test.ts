/** The whole program with two processes of each role over two chains: all of them work, and one's death and replacement fail no other requests. */

import { Agent, request } from 'node:http';
import { platform } from 'node:os';
import { text } from 'node:stream/consumers';
import { type ChainId, parseChainId, systemClock } from '@chainstead/core';
import {
  commandLineOf,
  createScriptedChain,
  descendantsOf,
  type Program,
  type ScriptedChain,
  serveScriptedChain,
  startProgram,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectTransferRows } from './transfer-rows.ts';

const WAIT = { timeout: 120_000, interval: 100 };
const NAMES = ['api-1', 'api-2', 'ingest-1', 'ingest-2', 'worker-1', 'worker-2'];
/** Requests under way at once, each loop's next one after its last. */
const LOOPS = 4;
/** One connection may have been on its way to a process that was killed. Milliseconds. */
const ANSWER_MS = 30_000;

interface IndexedChain {
  readonly name: string;
  readonly id: ChainId;
  readonly chain: ScriptedChain;
  readonly node: Awaited<ReturnType<typeof serveScriptedChain>>;
}

const scratch = scratchOfFile({ migrated: false });
let chains: readonly IndexedChain[];
let environment: Readonly<Record<string, string>>;
let program: Program;
let address: string;

async function serveChain(name: string, id: number): Promise<IndexedChain> {
  const chain = createScriptedChain({ seed: id, chainId: id, finalityDepth: 8 });
  chain.mine(40);
  return { name, id: parseChainId(id), chain, node: await serveScriptedChain(chain) };
}

function keysOf({ name, id, node }: IndexedChain): Record<string, string> {
  const suffix = name.toUpperCase();
  return {
    [`CHAIN_ID_${suffix}`]: String(id),
    [`RPC_URLS_${suffix}`]: node.url,
    [`START_BLOCK_${suffix}`]: '0',
    // Its transactions have no signatures.
    [`SWAPS_${suffix}`]: 'off',
    POLL_INTERVAL_MS: '100',
  };
}

beforeAll(async () => {
  chains = [await serveChain('one', 1_337_021), await serveChain('two', 1_337_022)];
  environment = {
    DATABASE_URL: scratch.url,
    PORT: '0',
    ROLES: 'api:2,ingest:2,worker:2',
    CHAINS: 'one,two',
    ...Object.assign({}, ...chains.map(keysOf)),
  };
  program = startProgram(['start'], { environment });
  const [, found = ''] = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
  address = found;
});

afterAll(async () => {
  program?.signal('SIGKILL');
  await program?.exited;
  await Promise.all((chains ?? []).map(({ node }) => node.close()));
});

/** By name, among all that the program started. */
function processIds(): ReadonlyMap<string, number> {
  return new Map(
    descendantsOf(program.pid).flatMap((pid): [string, number][] => {
      const [, role, number] = /role-process\.[jt]s (\w+) (\d+) 2\b/.exec(commandLineOf(pid) ?? '') ?? [];
      return role === undefined ? [] : [[`${role}-${number}`, pid]];
    }),
  );
}

/** Over a separate connection, unless an agent keeps some. */
async function ask(path: string, options: { readonly agent?: Agent; readonly body?: string } = {}) {
  const { agent = false, body } = options;
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number;
    readonly body: string;
  }>();
  const sent = request(`${address}${path}`, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers:
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  });
  sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error(`No answer within ${ANSWER_MS} ms`)));
  sent.on('error', reject);
  sent.on('response', (response) => {
    text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
  });
  sent.end(body);
  return promise;
}

function pageOf({ name, chain }: IndexedChain): string {
  return `/api/v2.2/${chain.wallets[0]}/erc20/transfers?chain=${name}`;
}

const metrics = async (): Promise<string> => (await ask('/metrics')).body;

/** The values of a metric by process, where its labels hold the text. */
async function valuesByProcess(metric: string, label: string): Promise<Record<string, number>> {
  const lines = [
    ...(await metrics()).matchAll(new RegExp(`^${metric}\\{(.*)process="([^"]+)"\\} (\\S+)$`, 'gm')),
  ];
  const found: Record<string, number> = {};
  for (const [, labels = '', process = '', value] of lines)
    if (labels.includes(label)) found[process] = (found[process] ?? 0) + Number(value);
  return found;
}

async function untilFollowed(): Promise<void> {
  for (const { name, chain } of chains)
    await vi.waitFor(async () => {
      const heads = Object.values(await valuesByProcess('chainstead_sync_checkpoint_block', `chain="${name}"`));
      expect(heads).toEqual([chain.head]);
    }, WAIT);
}

/** Asks for pages again and again, in several loops, until it is ended. @returns what failed, and how many were answered */
function keepAsking(agent?: Agent) {
  const failures: string[] = [];
  let answered = 0;
  let isOver = false;
  const loops = Array.from({ length: LOOPS }, async (_, loop) => {
    while (!isOver) {
      for (const chain of chains) {
        try {
          const { status, body } = await ask(pageOf(chain), agent === undefined ? {} : { agent });
          if (status === 200) answered += 1;
          else failures.push(`${status} ${body}`);
        } catch (error) {
          failures.push(`loop ${loop}: ${error}`);
        }
      }
    }
  });
  return {
    answered: () => answered,
    async end() {
      isOver = true;
      await Promise.all(loops);
      agent?.destroy();
      return { failures, answered };
    },
  };
}

/** Until the names are those of other processes than before, and all of them are ready. */
async function untilStartedAfresh(names: readonly string[], before: ReadonlyMap<string, number>): Promise<void> {
  await vi.waitFor(async () => {
    const now = processIds();
    expect([...now.keys()].toSorted()).toEqual(NAMES);
    expect(names.filter((name) => now.get(name) === before.get(name))).toEqual([]);
    expect(Object.keys(await valuesByProcess('process_resident_memory_bytes', '')).toSorted()).toEqual(NAMES);
  }, WAIT);
}

describe.runIf(platform() === 'linux')('two processes of each role', () => {
  it('are told by the start, share connections and chains, and are all answered for by each', async () => {
    await program.waitFor(/Chainstead runs: api \(2 processes\), ingest \(2 processes\), worker \(2 processes\)/);
    expect([...processIds().keys()].toSorted()).toEqual(NAMES);
    await untilFollowed();
    for (let round = 0; round < 20; round += 1)
      for (const chain of chains) expect((await ask(pageOf(chain))).status).toBe(200);
    // Repeated requests within a second are counted once.
    await vi.waitFor(async () => {
      const pages = await valuesByProcess('chainstead_http_requests_total', 'erc20/transfers');
      expect(pages['api-1']).toBeGreaterThan(10);
      expect(pages['api-2']).toBeGreaterThan(10);
    }, WAIT);
    // A process that does not respond in time is left out of the report.
    await vi.waitFor(async () => {
      expect(await valuesByProcess('chainstead_sync_leader', 'chain="one"')).toEqual({ 'ingest-1': 1 });
      expect(await valuesByProcess('chainstead_sync_leader', 'chain="two"')).toEqual({ 'ingest-2': 1 });
      expect(Object.keys(await valuesByProcess('process_resident_memory_bytes', '')).toSorted()).toEqual(NAMES);
    }, WAIT);
    const series = (await metrics())
      .split('\n')
      .flatMap((line) => (/^[^#]/.test(line) ? [line.replace(/ \S+$/, '')] : []));
    expect(series).toHaveLength(new Set(series).size);
    const status = (await runCaptured(['status'], environment)).stdout;
    for (const name of NAMES) expect(status).toMatch(new RegExp(`^ {4}${name}.*: \\d+ connections?$`, 'm'));
  });

  it('go on when one of each is killed, which is started again', async () => {
    const before = processIds();
    const load = keepAsking();
    const killed = ['api-1', 'ingest-1', 'worker-1'];
    for (const name of killed) process.kill(before.get(name) ?? Number.NaN, 'SIGKILL');
    const atDeath = load.answered();
    for (const { chain } of chains) chain.mine(10);
    // By the one that is left: a second starts after half a second at the earliest.
    await vi.waitFor(() => expect(load.answered()).toBeGreaterThan(atDeath + 2 * LOOPS), WAIT);
    await untilStartedAfresh(killed, before);
    await program.waitFor(/"child_process":"api-1".*Role process ended unexpectedly, restarting it/);
    const { failures } = await load.end();
    // Those that it had in hand.
    expect(failures.length, failures.join('\n')).toBeLessThanOrEqual(LOOPS);
    const after = processIds();
    for (const name of NAMES.filter((each) => !killed.includes(each)))
      expect(after.get(name)).toBe(before.get(name));
    await untilFollowed();
  });

  it('are replaced one by one at SIGHUP, those of the API, and no request fails', async () => {
    const before = processIds();
    const loads = [keepAsking(), keepAsking(new Agent({ keepAlive: true, maxSockets: LOOPS }))];
    await vi.waitFor(() => expect(loads.every(({ answered }) => answered() > 10)).toBe(true), WAIT);
    program.signal('SIGHUP');
    await program.waitFor(/All processes of the role replaced/);
    const answered = loads.map((load) => load.answered());
    await vi.waitFor(
      () => expect(loads.every((load, place) => load.answered() > (answered[place] ?? 0) + 10)).toBe(true),
      WAIT,
    );
    for (const load of loads) expect((await load.end()).failures).toEqual([]);
    const after = processIds();
    expect([...after.keys()].toSorted()).toEqual(NAMES);
    for (const name of NAMES)
      if (name.startsWith('api')) expect(after.get(name)).not.toBe(before.get(name));
      else expect(after.get(name)).toBe(before.get(name));
  });

  // Invariant: GATEWAY-HEAD-FLOOR
  it('never tell a client of the gateway an older head than another process has', async () => {
    const [first] = chains;
    if (first === undefined) throw new Error('No chain is served');
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
    const heads: number[] = [];
    for (let requested = 0; requested < 150; requested += 1) {
      if (requested % 5 === 0) first.chain.mine();
      const answer: { readonly result: string } = JSON.parse((await ask('/one/anything', { body })).body);
      heads.push(Number(answer.result));
      await systemClock.sleep(10);
    }
    expect(heads).toEqual(heads.toSorted((a, b) => a - b));
    expect(new Set(heads).size).toBeGreaterThan(3);
  });

  it('have written exactly the rows of both chains, and end cleanly', async () => {
    await untilFollowed();
    for (const { chain, id } of chains)
      await vi.waitFor(() => expectTransferRows(scratch.database, chain, id), WAIT);
    const processes = processIds();
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    for (const pid of processes.values()) expect(commandLineOf(pid)).toBeNull();
  });
});
