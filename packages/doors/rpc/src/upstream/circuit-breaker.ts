import type { PoolLimits } from '../limits/pool-limits.ts';

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
