/** When a breaker opens and closes, times in milliseconds. */
export interface BreakerLimits {
  /** Consecutive failures that open it. */
  readonly failures: number;
  /** First open period. It doubles with each failed trial. */
  readonly openMs: number;
  readonly openMaxMs: number;
}

/** Closed allows all calls, open none; half-open waits for the result of one trial. */
export type BreakerState =
  | { readonly kind: 'closed'; readonly failures: number }
  /** No call before `until`, then one trial. */
  | { readonly kind: 'open'; readonly until: number; readonly openMs: number }
  | { readonly kind: 'half-open'; readonly openMs: number };

/** The state of an upstream without failures. */
export const CLOSED_BREAKER: BreakerState = { kind: 'closed', failures: 0 };

/** Whether a call may be sent now. */
export function mayEnter(state: BreakerState, now: number): boolean {
  return state.kind === 'closed' || (state.kind === 'open' && now >= state.until);
}

/**
 * Returns the state after a call was sent: an open breaker whose period is over becomes half-open until that call ends.
 */
export function entered(state: BreakerState, now: number): BreakerState {
  return state.kind === 'open' && now >= state.until ? { kind: 'half-open', openMs: state.openMs } : state;
}

/** Returns the state after a successful call. */
export function succeeded(state: BreakerState): BreakerState {
  // The call may date from before the breaker opened, but any response closes it.
  return state.kind === 'closed' && state.failures === 0 ? state : CLOSED_BREAKER;
}

/** Returns the state after a failed call. */
export function failed(state: BreakerState, now: number, limits: BreakerLimits): BreakerState {
  if (state.kind === 'open') return state;
  if (state.kind === 'half-open') {
    const openMs = Math.min(limits.openMaxMs, state.openMs * 2);
    return { kind: 'open', until: now + openMs, openMs };
  }
  const failures = state.failures + 1;
  if (failures < limits.failures) return { kind: 'closed', failures };
  return { kind: 'open', until: now + limits.openMs, openMs: limits.openMs };
}

/** Returns the state after a trial that ended without a result: the next call is the trial. */
export function trialAbandoned(state: BreakerState, now: number): BreakerState {
  return state.kind === 'half-open' ? { kind: 'open', until: now, openMs: state.openMs } : state;
}
