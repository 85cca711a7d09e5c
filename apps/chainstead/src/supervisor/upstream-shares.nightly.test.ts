import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { UpstreamConfig } from '@chainstead/rpc';
import { type ChainNode, createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { RoleName } from '../configuration/index.ts';
import { parseRoleMessage } from './metrics-exchange.ts';
import { type CallingProcess, createUpstreamShares, type UpstreamShares } from './upstream-shares.ts';

const PROGRAM = fileURLToPath(new URL('../testing/calling-process.ts', import.meta.url));
const RATE = 40;
const WAIT = { timeout: 60_000, interval: 20 };

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function startNode(): Promise<ChainNode> {
  const chain = createScriptedChain({ seed: 1, chainId: 1 });
  chain.mine(3);
  const node = await serveScriptedChain(chain);
  ended.push(() => node.close());
  return node;
}

/** A process that is at work, with its shares of the limits. */
async function startCalling(
  shares: UpstreamShares,
  role: RoleName,
  { upstream, method }: { readonly upstream: UpstreamConfig; readonly method: string },
): Promise<ChildProcess> {
  const child = fork(PROGRAM, [JSON.stringify(upstream), method], { serialization: 'advanced', execArgv: [] });
  const exited = once(child, 'exit');
  const ready = Promise.withResolvers<void>();
  const calling: CallingProcess = {
    role,
    send: (message) => {
      if (child.connected) child.send(message, () => undefined);
    },
  };
  child.on('message', (value) => {
    const message = parseRoleMessage(value);
    if (message?.type === 'ready') ready.resolve();
    else if (message?.type === 'limit-report') shares.receive(calling, message);
  });
  void exited.then(() => shares.left(calling));
  ended.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await ready.promise;
  return child;
}

describe('the rate of an upstream', () => {
  test('is divided between processes by role, and calls go on when one is killed', async () => {
    const node = await startNode();
    const shares = createUpstreamShares();
    const start = (role: RoleName, method: string) =>
      startCalling(shares, role, { upstream: { url: node.url, requestsPerSecond: RATE }, method });
    const calls = (method: string): number => node.counters.snapshot().calls[method] ?? 0;
    const total = (): number =>
      Object.values(node.counters.snapshot().calls).reduce((sum, count) => sum + count, 0);
    await start('api', 'eth_gasPrice');
    await start('api', 'eth_gasPrice');
    const killed = await start('worker', 'net_version');
    node.counters.reset();
    const began = performance.now();
    /** The rate, a full bucket of it, and one call of each process whose share is less. */
    const allowed = (): number => RATE * (1 + (performance.now() - began) / 1_000) + 3;
    await vi.waitFor(() => expect(total()).toBeGreaterThan(10 * RATE), WAIT);
    expect(total()).toBeLessThanOrEqual(allowed());
    // Two processes of the API have together what the worker has.
    expect(calls('eth_gasPrice') / calls('net_version')).toBeGreaterThan(0.6);
    expect(calls('eth_gasPrice') / calls('net_version')).toBeLessThan(1.6);

    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const atExit = total();
    // Its last calls may still be under way.
    await vi.waitFor(() => expect(total()).toBeGreaterThan(atExit + RATE), WAIT);
    const before = { killed: calls('net_version'), total: total() };
    await vi.waitFor(() => expect(total()).toBeGreaterThan(before.total + 5 * RATE), WAIT);
    expect(total()).toBeLessThanOrEqual(allowed());
    expect(calls('net_version')).toBe(before.killed);
  });
});
