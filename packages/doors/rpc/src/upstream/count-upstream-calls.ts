import type { Counter, Histogram, Registry } from '@chainstead/core';
import { createPoolMetrics, LATENCY_BUCKETS } from '../pool-metrics.ts';

export interface UpstreamCallCounts {
  readonly chain: string;
  readonly upstream: string;
  /** `ok`, `error` (the call's), or the kind of fault. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Per bucket, up to its bound; the last entry is above all. */
  readonly latency: readonly number[];
  readonly busyMs: number;
}

export const LATENCY_BOUNDS_MS: readonly number[] = LATENCY_BUCKETS.map((seconds) => seconds * 1_000);

interface Sum {
  readonly chain: string;
  readonly upstream: string;
  readonly outcomes: Map<string, number>;
  readonly within: number[];
  answers: number;
  seconds: number;
}

export async function countUpstreamCalls(registry: Registry): Promise<UpstreamCallCounts[]> {
  return countCalls(createPoolMetrics(registry), 'upstream');
}

export async function countCalls(
  metrics: Readonly<{ requests: Pick<Counter, 'get'>; requestDurationSeconds: Pick<Histogram, 'get'> }>,
  node: string,
): Promise<UpstreamCallCounts[]> {
  const sums = new Map<string, Sum>();
  const sumOf = (chain: unknown, upstream: unknown): Sum => {
    const name = JSON.stringify([chain, upstream]);
    const known = sums.get(name);
    if (known !== undefined) return known;
    const within = LATENCY_BUCKETS.map(() => 0);
    const counts = { outcomes: new Map(), within, answers: 0, seconds: 0 };
    const sum = { chain: String(chain), upstream: String(upstream), ...counts };
    sums.set(name, sum);
    return sum;
  };
  for (const { labels, value } of (await metrics.requests.get()).values) {
    const { outcomes } = sumOf(labels.chain, labels[node]);
    const outcome = String(labels.outcome);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + value);
  }
  for (const { labels, value, metricName = '' } of (await metrics.requestDurationSeconds.get()).values) {
    const sum = sumOf(labels.chain, labels[node]);
    if (metricName.endsWith('_sum')) sum.seconds += value;
    else if (metricName.endsWith('_count')) sum.answers += value;
    else {
      const index = 'le' in labels ? LATENCY_BUCKETS.indexOf(Number(labels.le)) : -1;
      if (index >= 0) sum.within[index] = (sum.within[index] ?? 0) + value;
    }
  }
  return [...sums.values()].map(({ chain, upstream, outcomes, within, answers, seconds }) => ({
    chain,
    upstream,
    outcomes,
    latency: [...within, answers].map((upTo, index) => upTo - (within[index - 1] ?? 0)),
    busyMs: Math.round(seconds * 1_000),
  }));
}
