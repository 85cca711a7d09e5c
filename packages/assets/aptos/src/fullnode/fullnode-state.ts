import { counter, defineMetrics, histogram, type Registry } from '@chainstead/core';
import { countCalls, LATENCY_BOUNDS_MS, type UpstreamCallCounts } from '@chainstead/rpc/pool';
import {
  backOffMs,
  basicAuthorization,
  createHttpExchange,
  type HttpAnswer,
  isLocal,
  TransportError,
} from '@chainstead/rpc/upstream-http';
import { FullnodeFault, type FullnodeFaultKind } from './errors.ts';

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

export interface HttpFullnode {
  /** @param path after `/v1` @throws FullnodeFault connection, timeout, truncated, too-large */
  get(path: string, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface HttpFullnodeOptions {
  readonly url: string;
  readonly apiKey: string | null;
  readonly connections: number;
  readonly answerBytesMax: number;
  readonly timeoutMs: number;
}

export function createHttpFullnode(options: HttpFullnodeOptions): HttpFullnode {
  const { answerBytesMax, timeoutMs } = options;
  const url = new URL(options.url);
  const base = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
  const headers = requestHeaders(url, options.apiKey);
  const exchange = createHttpExchange({ origin: url.origin, connections: options.connections, answerBytesMax });
  return {
    async get(path, signal) {
      const query = url.search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${url.search.slice(1)}`;
      try {
        return await exchange.send({ method: 'GET', path: `${base}${query}`, headers, timeoutMs, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof TransportError)) throw error;
        const kind = error.kind === 'not-json' || error.kind === 'aborted' ? 'connection' : error.kind;
        throw new FullnodeFault(kind, error.message, { cause: error });
      }
    },
    close: () => exchange.close(),
  };
}

function requestHeaders(url: URL, apiKey: string | null): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (!isLocal(url)) headers['accept-encoding'] = 'gzip, br';
  const authorization = apiKey === null ? basicAuthorization(url) : `Bearer ${apiKey}`;
  if (authorization !== null) headers.authorization = authorization;
  return headers;
}

export type FullnodeMetrics = ReturnType<typeof createFullnodeMetrics>;

export const createFullnodeMetrics = defineMetrics('chainstead_aptos', {
  requests: counter('Number of calls to Aptos fullnodes, by outcome: ok or the fault kind', [
    'chain',
    'fullnode',
    'outcome',
  ]),
  requestDurationSeconds: histogram(
    'Time from sending a request to an Aptos fullnode to reading the whole response',
    LATENCY_BOUNDS_MS.map((ms) => ms / 1_000),
    ['chain', 'fullnode'],
  ),
  bytes: counter('Number of response bytes received from Aptos fullnodes, after decompression', [
    'chain',
    'fullnode',
  ]),
});

export function countFullnodeCalls(registry: Registry): Promise<UpstreamCallCounts[]> {
  return countCalls(createFullnodeMetrics(registry), 'fullnode');
}
