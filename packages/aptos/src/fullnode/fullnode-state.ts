import type { FullnodeFault, FullnodeFaultKind } from './errors.ts';
import type { HttpFullnode } from './http-fullnode.ts';

/** How a fullnode is doing, for the status. */
export interface FullnodeStatus {
  /** Protocol and host: never what may be secret. */
  readonly name: string;
  readonly state: 'ok' | 'paused' | 'refused';
  /** Why it is not asked. */
  readonly reason: string | null;
  readonly head: number | null;
  readonly oldest: number | null;
  readonly requests: number;
  readonly faults: Readonly<Partial<Record<FullnodeFaultKind, number>>>;
  readonly lastError: string | null;
}

/** What is known of one fullnode. Times in epoch milliseconds. */
export interface FullnodeState {
  readonly name: string;
  readonly http: HttpFullnode;
  /** Null until it was heard. */
  head: number | null;
  oldest: number | null;
  /** Serves another chain: not asked for anything but who it is. */
  refused: string | null;
  askedWhoAt: number;
  pausedUntil: number;
  failures: number;
  inFlight: number;
  requests: number;
  readonly faults: Partial<Record<FullnodeFaultKind, number>>;
  lastError: string | null;
}

const PAUSE_BASE_MS = 100;
const PAUSE_MAX_MS = 15_000;
/** A wrong API key stays wrong for a while. */
const REJECTED_PAUSE_MS = 30_000;

export function createFullnodeState(name: string, http: HttpFullnode): FullnodeState {
  return {
    name,
    http,
    head: null,
    oldest: null,
    refused: null,
    askedWhoAt: 0,
    pausedUntil: 0,
    failures: 0,
    inFlight: 0,
    requests: 0,
    faults: {},
    lastError: null,
  };
}

/** It answered as it should. */
export function noteSuccess(state: FullnodeState): void {
  state.failures = 0;
}

/** Writes down what went wrong while asking for `version`, and how long the fullnode is left alone for it. */
export function noteFault(state: FullnodeState, fault: FullnodeFault, version: number | null, now: number): void {
  state.faults[fault.kind] = (state.faults[fault.kind] ?? 0) + 1;
  state.lastError = fault.message;
  switch (fault.kind) {
    case 'behind':
      if (version !== null) state.head = Math.min(state.head ?? version - 1, version - 1);
      break;
    case 'pruned':
      if (version !== null) state.oldest = Math.max(state.oldest ?? 0, version + 1);
      break;
    case 'wrong-chain':
      state.refused = fault.message;
      break;
    case 'too-large':
      break;
    case 'rejected':
      state.pausedUntil = Math.max(state.pausedUntil, now + REJECTED_PAUSE_MS);
      break;
    default:
      pause(state, fault.waitMs, now);
  }
}

/** A burst in flight fails many times at once: one pause for all of them, unless the fullnode asks for more. */
function pause(state: FullnodeState, waitMs: number | undefined, now: number): void {
  if (waitMs !== undefined) state.pausedUntil = Math.max(state.pausedUntil, now + waitMs);
  if (now < state.pausedUntil) return;
  const full = Math.min(PAUSE_MAX_MS, PAUSE_BASE_MS * 2 ** Math.min(state.failures++, 20));
  state.pausedUntil = now + full / 2 + (full / 2) * Math.random();
}

export function statusOf(state: FullnodeState, now: number): FullnodeStatus {
  const isPaused = now < state.pausedUntil;
  return {
    name: state.name,
    state: state.refused !== null ? 'refused' : isPaused ? 'paused' : 'ok',
    reason: state.refused ?? (isPaused ? state.lastError : null),
    head: state.head,
    oldest: state.oldest,
    requests: state.requests,
    faults: { ...state.faults },
    lastError: state.lastError,
  };
}
