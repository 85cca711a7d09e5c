import type { Chain } from '@chainstead/chains';
import { type Clock, createMetricsRegistry, type Registry, silentLogger } from '@chainstead/core';
import { onTestFinished } from 'vitest';
import { createUpstreamPool } from '../create-upstream-pool.ts';
import type { ForwardingPool } from '../forwarding-pool.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import type { OnWrongAnswer, UpstreamConfig, UpstreamPool } from '../upstream-pool.ts';
import {
  type Scripted,
  type ScriptedChain,
  type ScriptedNode,
  startScriptedNode,
  testChain,
} from './scripted-node.ts';

/** Short waits let tests see many rounds. Long timeouts: a slow response on a stalled machine is no fault. */
const QUICK: Partial<PoolLimits> = {
  attemptTimeoutMs: 15_000,
  heavyTimeoutMs: 15_000,
  backOffBaseMs: 5,
  backOffMaxMs: 20,
  startTimeoutMs: 15_000,
  startGraceMs: 10_000,
  recheckMs: 100,
  breakerOpenMs: 40,
  breakerOpenMaxMs: 80,
  deadlineMs: 20_000,
};

/** Returns limits for a node with this response: silence must be detected within a second. */
export function ofSilence(answer: Scripted): Partial<PoolLimits> {
  return answer === 'hang' ? { attemptTimeoutMs: 700 } : {};
}

/** Starts a node that stops when the test ends. */
export async function node(head: number, chain: ScriptedChain = {}): Promise<ScriptedNode> {
  const started = await startScriptedNode(head, chain);
  onTestFinished(() => started.close());
  return started;
}

/** A pool and the registry with its metrics. */
export interface TestPool extends ForwardingPool {
  readonly registry: Registry;
}

/** Creates a pool that is not started and closes when the test ends. */
export function pool(
  upstreams: readonly (ScriptedNode | UpstreamConfig)[],
  options: {
    chain?: Partial<Chain>;
    limits?: Partial<PoolLimits>;
    pollIntervalMs?: number;
    onWrongAnswer?: OnWrongAnswer;
    clock?: Clock;
  } = {},
): TestPool {
  const registry = createMetricsRegistry();
  const created = createUpstreamPool({
    chain: testChain(options.chain),
    upstreams: upstreams.map((upstream) => ('received' in upstream ? { url: upstream.url } : upstream)),
    logger: silentLogger(),
    metrics: registry,
    limits: { ...QUICK, ...options.limits },
    pollIntervalMs: options.pollIntervalMs ?? 20,
    onWrongAnswer: options.onWrongAnswer,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  onTestFinished(() => created.close());
  return { ...created, registry };
}

/** Creates and starts a pool. */
export async function startedPool(...given: Parameters<typeof pool>): Promise<TestPool> {
  const created = pool(...given);
  await created.start();
  return created;
}

/** Returns the faults of an upstream by kind. */
export function faultsOf(from: UpstreamPool, name: string): Readonly<Record<string, number>> {
  return from.status().find((upstream) => upstream.name === name)?.faults ?? {};
}

/** Returns the error of a promise that must fail. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}
