import type { UpstreamPool, UpstreamStatus } from '@chainstead/rpc';
import type { StretchSigns } from './prover-pace.ts';

export interface StretchSignsOptions {
  readonly pool: Pick<UpstreamPool, 'status'>;
  /** Whether the follower is behind. */
  isBehind(): boolean;
  /** Whether history is still being read. */
  isFilling(): boolean;
}

/** Refusals up to this share of the calls, or a single one, are an upstream's mood: a slower pace would have them, too. */
const REFUSED_SHARE = 0.05;
/** Answers that take so many times as long as they did at best, and so much longer, show a crowd. */
const SLOW_FACTOR = 3;
const SLOW_MS = 200;

/** Gives at each call what upstreams have shown since the one before. */
export function createStretchSigns({ pool, isBehind, isFilling }: StretchSignsOptions): () => StretchSigns {
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
    return { refused, crowded: isBehind() || isSlow, yields: isFilling() };
  };
}

function callsOf(upstreams: readonly UpstreamStatus[]): { readonly made: number; readonly refused: number } {
  return {
    made: upstreams.reduce((sum, { requests }) => sum + requests, 0),
    refused: upstreams.reduce((sum, { faults }) => sum + (faults['rate-limited'] ?? 0), 0),
  };
}
