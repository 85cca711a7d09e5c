import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@chainstead/core';
import type { UpstreamConfig } from '@chainstead/rpc';
import { type ChainNode, createScriptedChain, type RpcHandler, serveScriptedChain } from '@chainstead/testkit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { RoleName } from '../configuration/index.ts';
import { parseRoleMessage } from './role-messages.ts';
import { type CallingProcess, createUpstreamBudgets, type UpstreamBudgets } from './upstream-budgets.ts';

const PROGRAM = fileURLToPath(new URL('../testing/calling-process.ts', import.meta.url));
const RATE = 40;
/** Of what is measured. */
const SLICE_MS = 250;
/** A slice that took longer tells of a machine that stood still, whose calls come all at once behind it. */
const UNDISTURBED_MS = 1.5 * SLICE_MS;
/** After a start or a pause, until calls that were saved up are made: a second's, and some. */
const CALM_SLICES = 6;
const WAIT = { timeout: 60_000, interval: 20 };

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function startNode(methods: ReadonlyMap<string, RpcHandler> = new Map()): Promise<ChainNode> {
  const chain = createScriptedChain({ seed: 1, chainId: 1 });
  chain.mine(3);
  const node = await serveScriptedChain(chain, { methods: () => methods });
  ended.push(() => node.close());
  return node;
}

/** A process that is at work, under the budgets of this one. */
async function startCalling(
  budgets: UpstreamBudgets,
  role: RoleName,
  { upstream, work }: { readonly upstream: UpstreamConfig; readonly work: string },
): Promise<{ readonly child: ChildProcess; readonly messages: () => number }> {
  const child = fork(PROGRAM, [JSON.stringify(upstream), work], {
    serialization: 'advanced',
    execArgv: [],
  });
  const exited = once(child, 'exit');
  const ready = Promise.withResolvers<void>();
  let messages = 0;
  const calling: CallingProcess = {
    role,
    send: (message) => {
      messages += 1;
      if (child.connected) child.send(message, () => undefined);
    },
  };
  child.on('message', (value) => {
    const message = parseRoleMessage(value);
    messages += 1;
    if (message?.type === 'ready') ready.resolve();
    else if (message?.type === 'turn-ask' || message?.type === 'turn-return') budgets.receive(calling, message);
  });
  void exited.then(() => budgets.left(calling));
  ended.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await ready.promise;
  return { child, messages: () => messages };
}

interface CountedCalls {
  readonly total: number;
  /** That they were counted for. */
  readonly seconds: number;
  of(method: string): number;
}

/** Calls that a node gets, by method, within so many seconds through which the machine ran, as it did before. */
async function countCalls(node: ChainNode, seconds: number): Promise<CountedCalls> {
  const counted = new Map<string, number>();
  let ms = 0;
  for (let calm = 0; ms < seconds * 1_000; ) {
    node.counters.reset();
    const took = await sliceOfTime();
    calm = took > UNDISTURBED_MS ? 0 : calm + 1;
    if (calm <= CALM_SLICES) continue;
    ms += took;
    for (const [method, calls] of Object.entries(node.counters.snapshot().calls))
      counted.set(method, (counted.get(method) ?? 0) + calls);
  }
  const total = counted.values().reduce((sum, count) => sum + count, 0);
  return { total, seconds: ms / 1_000, of: (method) => counted.get(method) ?? 0 };
}

/** Measures once the machine has run for a while, and anew where it stood still meanwhile. */
async function undisturbed(measure: () => Promise<void>): Promise<void> {
  for (let isDisturbed = true; isDisturbed; ) {
    for (let calm = 0; calm < CALM_SLICES; ) calm = (await sliceOfTime()) > UNDISTURBED_MS ? 0 : calm + 1;
    let isOver = false;
    const watched = (async () => {
      let longest = 0;
      while (!isOver) longest = Math.max(longest, await sliceOfTime());
      return longest;
    })();
    await measure();
    isOver = true;
    isDisturbed = (await watched) > UNDISTURBED_MS;
  }
}

/** @returns how long it took. Milliseconds */
async function sliceOfTime(): Promise<number> {
  const began = performance.now();
  await sleep(SLICE_MS);
  return performance.now() - began;
}

describe('what an upstream allows', () => {
  test('is one budget for all processes, divided by role, in which heads go first', async () => {
    const node = await startNode();
    const budgets = createUpstreamBudgets(systemClock);
    const start = (role: RoleName, work: string) =>
      startCalling(budgets, role, { upstream: { url: node.url, requestsPerSecond: RATE }, work });
    await start('ingest', 'heads');
    await start('api', 'eth_gasPrice');
    await start('api', 'eth_gasPrice');
    await start('worker', 'net_version');
    const calls = await countCalls(node, 5);
    const { seconds } = calls;
    expect(calls.total).toBeLessThanOrEqual(RATE * seconds * 1.1);
    expect(calls.total).toBeGreaterThanOrEqual(RATE * seconds * 0.75);
    // Five heads a second at most: nobody ahead of them.
    expect(calls.of('eth_blockNumber')).toBeGreaterThanOrEqual(3 * seconds);
    // Two processes of the API have together what the worker has.
    const ratio = calls.of('eth_gasPrice') / calls.of('net_version');
    expect(ratio).toBeGreaterThan(0.7);
    expect(ratio).toBeLessThan(1.4);
  });

  test('goes to those who are left when a process is killed', async () => {
    const node = await startNode();
    const budgets = createUpstreamBudgets(systemClock);
    const start = (role: RoleName, work: string) =>
      startCalling(budgets, role, { upstream: { url: node.url, requestsPerSecond: RATE }, work });
    const killed = await start('worker', 'net_version');
    await start('api', 'eth_gasPrice');
    await vi.waitFor(() => expect(node.counters.snapshot().calls.net_version).toBeGreaterThan(RATE), WAIT);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    const calls = await countCalls(node, 3);
    const { seconds } = calls;
    expect(calls.of('net_version')).toBe(0);
    expect(calls.total).toBeGreaterThanOrEqual(RATE * seconds * 0.75);
    expect(calls.total).toBeLessThanOrEqual(RATE * seconds * 1.15);
  });

  test('of requests in flight is one, too: those of a killed process are given back, and heads have room of their own', async () => {
    let inFlight = 0;
    let most = 0;
    const slow: RpcHandler = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await sleep(100);
      inFlight -= 1;
      return { result: '0x1' };
    };
    const node = await startNode(
      new Map([
        ['eth_gasPrice', slow],
        ['net_version', slow],
      ]),
    );
    const budgets = createUpstreamBudgets(systemClock);
    const start = (role: RoleName, work: string) =>
      startCalling(budgets, role, { upstream: { url: node.url, concurrency: 4 }, work });
    await start('ingest', 'heads');
    await start('api', 'eth_gasPrice');
    const killed = await start('worker', 'net_version');
    const { counters } = node;
    const made = (method: string): number => counters.snapshot().calls[method] ?? 0;
    const untilMade = (calls: Readonly<Record<string, number>>): Promise<void> =>
      vi.waitFor(() => {
        for (const [method, count] of Object.entries(calls))
          expect([method, made(method) >= count]).toEqual([method, true]);
      }, WAIT);
    await untilMade({ eth_blockNumber: 1, net_version: 1, eth_gasPrice: 1 });
    await undisturbed(async () => {
      counters.reset();
      most = 0;
      await untilMade({ eth_blockNumber: 5, net_version: 10, eth_gasPrice: 10 });
    });
    // One of four is kept for what is urgent.
    expect(most).toBe(3);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    await undisturbed(async () => {
      counters.reset();
      most = 0;
      await untilMade({ eth_gasPrice: 40 });
    });
    expect(made('net_version')).toBe(0);
    // All three slots.
    expect(most).toBe(3);
  });

  test('costs few messages where it is not used up', async () => {
    const node = await startNode();
    const budgets = createUpstreamBudgets(systemClock);
    const upstream = { url: node.url, requestsPerSecond: 20_000 };
    const { messages } = await startCalling(budgets, 'api', { upstream, work: 'eth_gasPrice' });
    const { counters } = node;
    const made = (): number => counters.snapshot().calls.eth_gasPrice ?? 0;
    await vi.waitFor(() => expect(made()).toBeGreaterThan(500), WAIT);
    counters.reset();
    const before = messages();
    await vi.waitFor(() => expect(made()).toBeGreaterThan(2_000), WAIT);
    expect((messages() - before) / made()).toBeLessThan(0.2);
  });
});
