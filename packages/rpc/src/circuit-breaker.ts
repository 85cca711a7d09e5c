/** How a breaker opens and heals. Times in milliseconds. */
export interface BreakerLimits {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open the first time; doubles with each failed trial. */
  readonly openMs: number;
  readonly openMaxMs: number;
}

/** Closed lets calls through, open none, half-open waits for one trial. */
export type BreakerState =
  | { readonly kind: 'closed'; readonly failures: number }
  /** Nothing is asked before `until`, then one trial. */
  | { readonly kind: 'open'; readonly until: number; readonly openMs: number }
  | { readonly kind: 'half-open'; readonly openMs: number };

/** The state of an upstream that has not failed. */
export const CLOSED_BREAKER: BreakerState = { kind: 'closed', failures: 0 };

/** Whether a call may go out now. */
export function mayEnter(state: BreakerState, now: number): boolean {
  return state.kind === 'closed' || (state.kind === 'open' && now >= state.until);
}

/** The state once a call went out: an open breaker whose time is over becomes half-open until that call ends. */
export function entered(state: BreakerState, now: number): BreakerState {
  return state.kind === 'open' && now >= state.until ? { kind: 'half-open', openMs: state.openMs } : state;
}

/** The state after a call that was answered. */
export function succeeded(state: BreakerState): BreakerState {
  // A call that went out before the breaker opened says nothing about now, but an answer is an answer.
  return state.kind === 'closed' && state.failures === 0 ? state : CLOSED_BREAKER;
}

/** The state after a call that failed. */
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

/** The trial was given up without an answer either way: the next call is the trial. */
export function trialAbandoned(state: BreakerState, now: number): BreakerState {
  return state.kind === 'half-open' ? { kind: 'open', until: now, openMs: state.openMs } : state;
}
