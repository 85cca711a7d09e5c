import { getOrCompute } from '@chainstead/core';
import type { UpstreamFault } from '../errors.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import { backOffMs } from '../upstream-http/http-exchange.ts';

export interface Health {
  /** Recent share of bad responses, 0 to 1. */
  readonly badness: number;
  /** Small calls; null: none yet. */
  readonly latencyMs: number | null;
  readonly at: number;
}

export const UNKNOWN_HEALTH: Health = { badness: 0, latencyMs: null, at: 0 };

/** Without traffic, so that an avoided upstream is tried again. */
const HALF_LIFE_MS = 30_000;
const WEIGHT = 0.1;
const LATENCY_WEIGHT = 0.2;
const SLOW_MS = 1_000;
const FAR_BEHIND_MS = 30_000;

/** `latencyMs` null: not meaningful (large ranges). */
export function goodAnswer(health: Health, now: number, latencyMs: number | null): Health {
  const former = health.latencyMs ?? latencyMs;
  const latency = latencyMs === null || former === null ? former : former + (latencyMs - former) * LATENCY_WEIGHT;
  return { badness: badnessAt(health, now) * (1 - WEIGHT), latencyMs: latency, at: now };
}

/** `weight`: 1 for a failure, more for an invalid response. */
export function badAnswer(health: Health, now: number, weight = 1): Health {
  const share = Math.min(0.9, WEIGHT * weight);
  return { ...health, badness: badnessAt(health, now) * (1 - share) + share, at: now };
}

export function healthScore(health: Health, now: number, lagMs: number): number {
  const errors = (1 - badnessAt(health, now)) ** 2;
  const speed = SLOW_MS / (SLOW_MS + (health.latencyMs ?? 0));
  const freshness = FAR_BEHIND_MS / (FAR_BEHIND_MS + Math.max(0, lagMs));
  return errors * speed * freshness;
}

function badnessAt(health: Health, now: number): number {
  const age = Math.max(0, now - health.at);
  return health.badness * 0.5 ** (age / HALF_LIFE_MS);
}

interface LatencyWindow {
  add(milliseconds: number): void;
  /** `share` from 0 to 1; 0 if empty. */
  percentile(share: number): number;
  readonly count: number;
}

export function createLatencyWindow(size = 128): LatencyWindow {
  const values: number[] = [];
  let next = 0;
  let sorted: number[] = [];
  let addedSince = 0;
  return {
    add(milliseconds) {
      values[next] = milliseconds;
      next = (next + 1) % size;
      addedSince++;
    },
    percentile(share) {
      if (values.length === 0) return 0;
      // A full window is sorted after an eighth changed: hedging reads it at every call.
      if (addedSince > 0 && (values.length < size || addedSince >= size / 8)) {
        sorted = values.toSorted((a, b) => a - b);
        addedSince = 0;
      }
      return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
    },
    get count() {
      return values.length;
    },
  };
}

export function createMethodLatencies() {
  const all = createLatencyWindow();
  const byMethod = new Map<string | null, LatencyWindow>();
  return {
    add(method: string, milliseconds: number): void {
      all.add(milliseconds);
      getOrCompute(byMethod, method, () => createLatencyWindow()).add(milliseconds);
    },
    /** All methods if none is known or null. */
    percentile: (method: string | null, share: number): number => (byMethod.get(method) ?? all).percentile(share),
  };
}

export type BreakerState =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly until: number; readonly openMs: number }
  | { readonly kind: 'half-open'; readonly openMs: number };

export const CLOSED_BREAKER: BreakerState = { kind: 'closed', failures: 0 };

export function mayEnter(state: BreakerState, now: number): boolean {
  return state.kind === 'closed' || (state.kind === 'open' && now >= state.until);
}

export function entered(state: BreakerState, now: number): BreakerState {
  return state.kind === 'open' && now >= state.until ? { kind: 'half-open', openMs: state.openMs } : state;
}

export function succeeded(state: BreakerState): BreakerState {
  // Any response closes it, also to an older call.
  return state.kind === 'closed' && state.failures === 0 ? state : CLOSED_BREAKER;
}

/** The open period doubles with each failed trial. */
export function failed(
  state: BreakerState,
  now: number,
  limits: Pick<PoolLimits, 'breakerFailures' | 'breakerOpenMs' | 'breakerOpenMaxMs'>,
): BreakerState {
  if (state.kind === 'open') return state;
  if (state.kind === 'closed' && state.failures + 1 < limits.breakerFailures)
    return { kind: 'closed', failures: state.failures + 1 };
  const openMs =
    state.kind === 'closed' ? limits.breakerOpenMs : Math.min(limits.breakerOpenMaxMs, state.openMs * 2);
  return { kind: 'open', until: now + openMs, openMs };
}

export function trialAbandoned(state: BreakerState, now: number): BreakerState {
  return state.kind === 'half-open' ? { kind: 'open', until: now, openMs: state.openMs } : state;
}

/** Epoch milliseconds, as the upstream requested. */
export interface Pause {
  readonly until: number;
  readonly reason: string;
  begin(fault: UpstreamFault, now: number): void;
  answered(now: number): void;
}

const THROTTLE_BASE_MS = 500;
const THROTTLE_MAX_MS = 60_000;
const BUDGET_BASE_MS = 60_000;
/** The limit for Retry-After, too. */
const BUDGET_MAX_MS = 3_600_000;

export function createPause(): Pause {
  let until = 0;
  let reason = '';
  let throttles = 0;
  let refusals = 0;
  return {
    get until() {
      return until;
    },
    get reason() {
      return reason;
    },
    begin(fault, now) {
      // A burst's throttles count as one.
      if (now < until) return;
      const reported = fault.hints.retryAfterMs ?? 0;
      if (fault.hints.reaction === 'out-of-budget') {
        reason = `out of budget: ${fault.text}`;
        until = now + Math.max(reported, backOffMs(refusals++, BUDGET_BASE_MS, BUDGET_MAX_MS, 1));
      } else {
        reason = `throttled: ${fault.text}`;
        until = now + (reported > 0 ? reported : backOffMs(throttles++, THROTTLE_BASE_MS, THROTTLE_MAX_MS));
      }
      until = Math.min(until, now + BUDGET_MAX_MS);
    },
    answered(now) {
      if (now < until) return;
      throttles = 0;
      refusals = 0;
    },
  };
}
