import { backOffMs } from '@chainstead/rpc/upstream-http';
import type { FullnodeFault, FullnodeFaultKind } from './errors.ts';
import type { HttpFullnode } from './http-fullnode.ts';

export interface FullnodeStatus {
  readonly name: string;
  readonly state: 'healthy' | 'paused' | 'refused';
  readonly reason: string | null;
  readonly head: number | null;
  /** Epoch milliseconds; null: never. */
  readonly headAt: number | null;
  readonly oldest: number | null;
  readonly requests: number;
  readonly faults: Readonly<Partial<Record<FullnodeFaultKind, number>>>;
  readonly lastError: string | null;
}

export interface FullnodeState {
  readonly name: string;
  readonly http: HttpFullnode;
  head: number | null;
  headAt: number | null;
  oldest: number | null;
  /** Set for another chain: then only its chain id is requested. */
  refused: string | null;
  requestedWhoAt: number;
  pausedUntil: number;
  failures: number;
  inFlight: number;
  requests: number;
  readonly faults: Partial<Record<FullnodeFaultKind, number>>;
  lastError: string | null;
}

const PAUSE_BASE_MS = 100;
const PAUSE_MAX_MS = 15_000;
const REJECTED_PAUSE_MS = 30_000;

export function createFullnodeState(name: string, http: HttpFullnode): FullnodeState {
  return {
    ...{ name, http, head: null, headAt: null, oldest: null, refused: null, lastError: null },
    ...{ requestedWhoAt: 0, pausedUntil: 0, failures: 0, inFlight: 0, requests: 0, faults: {} },
  };
}

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

/** A failing burst counts as one pause, unless a longer one is requested. */
function pause(state: FullnodeState, waitMs: number | undefined, now: number): void {
  if (waitMs !== undefined) state.pausedUntil = Math.max(state.pausedUntil, now + waitMs);
  if (now < state.pausedUntil) return;
  state.pausedUntil = now + backOffMs(state.failures++, PAUSE_BASE_MS, PAUSE_MAX_MS, Math.random());
}

export function statusOf(state: FullnodeState, now: number): FullnodeStatus {
  const { name, refused, head, headAt, oldest, requests, faults, lastError } = state;
  const isPaused = now < state.pausedUntil;
  const usable = isPaused ? 'paused' : 'healthy';
  return {
    name,
    state: refused === null ? usable : 'refused',
    reason: refused ?? (isPaused ? lastError : null),
    ...{ head, headAt, oldest, requests, faults: { ...faults }, lastError },
  };
}
