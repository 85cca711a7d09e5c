import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@chainstead/core';
import type { UpstreamConfig } from '@chainstead/rpc';
import { type ChainNode, createScriptedChain, type RpcHandler, serveScriptedChain } from '@chainstead/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import type { RoleName } from '../configuration/index.ts';
import { parseRoleMessage } from './role-messages.ts';
import { type CallingProcess, createUpstreamBudgets, type UpstreamBudgets } from './upstream-budgets.ts';

const PROGRAM = fileURLToPath(new URL('../testing/calling-process.ts', import.meta.url));
const RATE = 40;

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

/** Calls that a node got within some time, by method. */
async function countCalls(
  node: ChainNode,
  ms: number,
): Promise<{ readonly total: number; of(method: string): number }> {
  node.counters.reset();
  await sleep(ms);
  const { calls } = node.counters.snapshot();
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0);
  return { total, of: (method) => calls[method] ?? 0 };
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
    // The burst is over.
    await sleep(1_500);
    const seconds = 5;
    const calls = await countCalls(node, seconds * 1_000);
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
    await sleep(1_500);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    await sleep(500);
    const seconds = 3;
    const calls = await countCalls(node, seconds * 1_000);
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
    await sleep(500);
    most = 0;
    const both = await countCalls(node, 2_000);
    // One of four is kept for what is urgent.
    expect(most).toBe(3);
    expect(both.of('eth_blockNumber')).toBeGreaterThanOrEqual(5);
    expect(both.of('net_version')).toBeGreaterThanOrEqual(10);
    expect(both.of('eth_gasPrice')).toBeGreaterThanOrEqual(10);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    await sleep(500);
    const left = await countCalls(node, 2_000);
    expect(left.of('net_version')).toBe(0);
    // Three slots, a tenth of a second each.
    expect(left.of('eth_gasPrice')).toBeGreaterThanOrEqual(40);
  });

  test('costs few messages where it is not used up', async () => {
    const node = await startNode();
    const budgets = createUpstreamBudgets(systemClock);
    const upstream = { url: node.url, requestsPerSecond: 20_000 };
    const { messages } = await startCalling(budgets, 'api', { upstream, work: 'eth_gasPrice' });
    await sleep(1_000);
    const before = messages();
    const calls = await countCalls(node, 2_000);
    expect(calls.total).toBeGreaterThan(500);
    expect((messages() - before) / calls.total).toBeLessThan(0.2);
  });
});
