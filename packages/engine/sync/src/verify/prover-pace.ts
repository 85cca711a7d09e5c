/** As fast as the upstreams allow without refusals, with room for the follower. */
import type { Clock } from '@chainstead/core';
import type { UpstreamPool, UpstreamStatus } from '@chainstead/rpc';

export interface ProverLoadSignals {
  readonly refused: boolean;
  readonly crowded: boolean;
}

interface ProverPace {
  /** Blocks per second. */
  readonly rate: number;
  /** Blocks in a span of a few seconds. */
  readonly rangeBlocks: number;
  begin(): void;
  turn(signal: AbortSignal): Promise<void>;
  end(signs: ProverLoadSignals): void;
}

const START_RATE = 10;
const RATE_MIN = 0.5;
const GROWTH = 1.5;
const AFTER_REFUSAL = 0.6;
const AFTER_CROWD = 0.7;
const SHARE = 0.8;
/** Tried again while the refusal is remembered. */
const BELOW_REFUSAL = 0.85;
const REFUSAL_REMEMBERED_MS = 300_000;
/** Turns this many times the plan show upstreams at their limit. */
const LATE = 1.25;
const SPAN_SECONDS = 4;
const SPAN_MIN = 8;
const SPAN_MAX = 64;
const MS_PER_SECOND = 1_000;

/** @param limit blocks per second; auto: as many as the upstreams allow */
export function createProverPace(clock: Clock, limit: number | 'auto'): ProverPace {
  const max = limit === 'auto' ? Number.POSITIVE_INFINITY : limit;
  let rate = limit === 'auto' ? START_RATE : limit;
  let refused: { readonly rate: number; readonly at: number } | null = null;
  let startedAt = clock.now();
  let lastTurnAt = startedAt;
  let turns = 0;
  let slot = startedAt;

  /** Rate of this span if below the plan; null: on time or too short. */
  function managed(): number | null {
    const planned = ((turns - 1) / rate) * MS_PER_SECOND;
    const took = lastTurnAt - startedAt;
    return turns < SPAN_MIN || took <= planned * LATE ? null : ((turns - 1) / took) * MS_PER_SECOND;
  }

  /** Starts below the refused rate and rises towards it with time. */
  function bound(): number {
    if (refused === null) return max;
    const share = (clock.now() - refused.at) / REFUSAL_REMEMBERED_MS;
    if (share > 1) refused = null;
    return refused === null ? max : refused.rate * (BELOW_REFUSAL + (1 - BELOW_REFUSAL) * share);
  }

  function next(signs: ProverLoadSignals): number {
    const reached = managed();
    if (signs.refused) {
      const tooMuch = Math.min(rate, reached ?? rate);
      // Otherwise the follower causes the refusals.
      if (!signs.crowded) refused = { rate: tooMuch, at: clock.now() };
      return tooMuch * AFTER_REFUSAL;
    }
    if (signs.crowded) return rate * AFTER_CROWD;
    if (reached !== null) return limit === 'auto' ? reached * SHARE : rate;
    return Math.min(rate * GROWTH, bound());
  }

  return {
    get rate() {
      return rate;
    },
    get rangeBlocks() {
      return Math.round(Math.min(SPAN_MAX, Math.max(SPAN_MIN, rate * SPAN_SECONDS)));
    },
    begin() {
      startedAt = Math.max(clock.now(), slot);
      lastTurnAt = startedAt;
      slot = startedAt;
      turns = 0;
    },
    async turn(signal) {
      const mine = slot;
      slot += MS_PER_SECOND / rate;
      const wait = mine - clock.now();
      if (wait > 0) await clock.sleep(wait, signal);
      turns += 1;
      lastTurnAt = clock.now();
    },
    end(signs) {
      rate = Math.min(max, Math.max(RATE_MIN, next(signs)));
    },
  };
}

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
