import type { UpstreamPool, UpstreamStatus } from '@chainstead/rpc';
import type { ProverLoadSignals } from './prover-pace.ts';

interface ProverLoadSignalsOptions {
  readonly pool: Pick<UpstreamPool, 'status'>;
  isBehind(): boolean;
}

/** Up to this share of refusals, or a single one, is normal at any speed. */
const REFUSED_SHARE = 0.05;
/** Overload: this many times the best latency, and this much longer. */
const SLOW_FACTOR = 3;
const SLOW_MS = 200;

export function createProverLoadSignals(options: ProverLoadSignalsOptions): () => ProverLoadSignals {
  const { pool, isBehind } = options;
  let last = callsOf(pool.status());
  let fastestMs = Number.POSITIVE_INFINITY;
  return () => {
    const status = pool.status();
    const before = last;
    last = callsOf(status);
    const refusals = last.refused - before.refused;
    const refused = refusals > Math.max(1, (last.made - before.made) * REFUSED_SHARE);
    const answering = status.filter(({ latencyMs }) => latencyMs.p50 > 0).map(({ latencyMs }) => latencyMs.p50);
    const latencyMs = answering.length === 0 ? 0 : Math.min(...answering);
    if (latencyMs > 0) fastestMs = Math.min(fastestMs, latencyMs);
    const isSlow = latencyMs > fastestMs * SLOW_FACTOR && latencyMs > fastestMs + SLOW_MS;
    return { refused, crowded: isBehind() || isSlow };
  };
}

function callsOf(upstreams: readonly UpstreamStatus[]): { readonly made: number; readonly refused: number } {
  return {
    made: upstreams.reduce((sum, { requests }) => sum + requests, 0),
    refused: upstreams.reduce((sum, { faults }) => sum + (faults['rate-limited'] ?? 0), 0),
  };
}
