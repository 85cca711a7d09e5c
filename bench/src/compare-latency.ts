import type { BenchmarkContext, Comparison } from './benchmark.ts';
import { quantile } from './statistics.ts';

/** Makes one request. @returns how long the answer took, milliseconds */
export type TimedRequest = () => Promise<number>;

/** Medians of requests one after the other, the two kinds in turn. @param atMost null: for information */
export async function compareLatency(
  { runs, sizes }: BenchmarkContext,
  name: string,
  requested: TimedRequest,
  reference: TimedRequest,
  atMost: number | null,
): Promise<Comparison> {
  const ours: number[] = [];
  const peer: number[] = [];
  for (let run = 0; run < runs; run++) {
    const times = { requested: [] as number[], reference: [] as number[] };
    for (let request = 0; request < sizes.latencyRequests; request++) {
      times.requested.push(await requested());
      times.reference.push(await reference());
    }
    ours.push(quantile(times.requested, 0.5));
    peer.push(quantile(times.reference, 0.5));
  }
  return { name: `${name}, p50`, unit: 'ms', ours, peer, ...(atMost !== null && { target: { atMost } }) };
}
