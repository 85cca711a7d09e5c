import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, type Registry, silentLogger } from '@chainstead/core';
import { onTestFinished } from 'vitest';
import { createUpstreamPool } from '../create-upstream-pool.ts';
import type { ForwardingPool } from '../forwarding-pool.ts';
import type { PoolLimits } from '../pool-limits.ts';
import type { OnWrongAnswer, UpstreamConfig, UpstreamPool } from '../upstream-pool.ts';
import { type Scripted, type ScriptedChain, type ScriptedNode, startScriptedNode, testChain } from './scripted-node.ts';

/** Short waits, so that tests see many rounds; but a node that answers late, since the machine stalls, has done no wrong. */
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

/** Limits of a pool with a node that answers so: silence is to be found out within a second. */
export function ofSilence(answer: Scripted): Partial<PoolLimits> {
  return answer === 'hang' ? { attemptTimeoutMs: 700 } : {};
}

/** A node that is stopped when the test ends. */
export async function node(head: number, chain: ScriptedChain = {}): Promise<ScriptedNode> {
  const started = await startScriptedNode(head, chain);
  onTestFinished(() => started.close());
  return started;
}

/** A pool and the registry with its metrics. */
export interface TestPool extends ForwardingPool {
  readonly registry: Registry;
}

/** A pool, not started, that is closed when the test ends. */
export function pool(
  upstreams: readonly (ScriptedNode | UpstreamConfig)[],
  options: {
    chain?: Partial<Chain>;
    limits?: Partial<PoolLimits>;
    pollIntervalMs?: number;
    onWrongAnswer?: OnWrongAnswer;
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
  });
  onTestFinished(() => created.close());
  return { ...created, registry };
}

/** A started pool. */
export async function startedPool(...given: Parameters<typeof pool>): Promise<TestPool> {
  const created = pool(...given);
  await created.start();
  return created;
}

/** Faults of an upstream by kind. */
export function faultsOf(from: UpstreamPool, name: string): Readonly<Record<string, number>> {
  return from.status().find((upstream) => upstream.name === name)?.faults ?? {};
}

/** The error of a promise that must fail. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}
