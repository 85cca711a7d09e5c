import PQueue from 'p-queue';
import { anySignal } from '../aborting.ts';
import { RequestAbortedError, UpstreamFault } from '../errors.ts';
import {
  attemptTimeout,
  type CallRank,
  type ConcurrencyLimiter,
  type PoolLimits,
  type RateLimiter,
} from '../limits/call-limits.ts';
import { rankPriority } from '../limits/limiters.ts';
import { methodLabel, type PoolMetrics } from '../pool-metrics.ts';
import type { Redactor } from '../redact-secrets.ts';
import { TransportError } from '../upstream-http/index.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';
import type { UpstreamState } from '../upstream-state.ts';
import type { Deadlines } from './deadlines.ts';
import { createHttpEndpoint, type JsonAnswer } from './http-endpoint.ts';
import { transportFault, unsentFault, type Wording } from './interpret-reply.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** @default 'history' */
  readonly rank?: CallRank | undefined;
  /** After decompression. @default PoolLimits.responseBytesMax */
  readonly bytesMax?: number | undefined;
}

export type TimedAnswer = JsonAnswer & { readonly latencyMs: number };

export interface Outgoing {
  readonly payload: string;
  readonly calls: number;
  readonly method: string;
  readonly wording?: Wording;
}

export interface RpcExchange {
  /** @throws UpstreamFault, RequestAbortedError */
  send(outgoing: Outgoing, options: CallOptions): Promise<TimedAnswer>;
  /** Share of the concurrency; above 1, some wait. */
  readonly load: number;
  close(): Promise<void>;
}

export function createRpcExchange(options: {
  readonly config: UpstreamConfig;
  readonly concurrency: number;
  readonly pace: RateLimiter;
  /** Null: this exchange alone limits its requests. */
  readonly slots: ConcurrencyLimiter | null;
  readonly state: UpstreamState;
  readonly redact: Redactor;
  readonly chain: { readonly key: string };
  readonly limits: PoolLimits;
  readonly deadlines: Deadlines;
  readonly metrics: PoolMetrics;
  readonly suspect: (fault: UpstreamFault) => void;
}): RpcExchange {
  const { config, concurrency, pace, slots, state, redact, chain, limits, deadlines, metrics, suspect } = options;
  const endpoint = createHttpEndpoint({ config, connections: concurrency, limits, deadlines, compressed: true });
  const queue = new PQueue({ concurrency: slots === null ? concurrency : Number.POSITIVE_INFINITY });
  const closed = new AbortController();
  let waiting = 0;

  async function post(outgoing: Outgoing, given: CallOptions, signal: AbortSignal): Promise<TimedAnswer> {
    if (slots === null) return postNow(outgoing, given, signal);
    const turn = slots.take(1, { rank: given.rank, signal });
    if (turn !== null) await turn;
    try {
      return await postNow(outgoing, given, signal);
    } finally {
      slots.leave();
    }
  }

  async function postNow(outgoing: Outgoing, given: CallOptions, signal: AbortSignal): Promise<TimedAnswer> {
    const { payload, calls, method } = outgoing;
    const pause = state.waitMs();
    if (pause !== null && pause > 0) throw unsentFault(state.name, method, state.obstacle, pause);
    const timeoutMs = given.timeoutMs ?? attemptTimeout(method, limits);
    state.sent();
    const started = performance.now();
    try {
      const answer = await endpoint.post(payload, { timeoutMs, signal, bytesMax: given.bytesMax });
      return { ...answer, latencyMs: performance.now() - started };
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      if (error.kind === 'aborted') {
        state.abandoned();
        throw new RequestAbortedError(method, signal.reason);
      }
      const fault = transportFault({ name: state.name, redact }, method, error);
      const labels = { chain: chain.key, upstream: state.name, method: methodLabel(method), outcome: fault.kind };
      metrics.requests.inc(labels, calls);
      if (outgoing.wording === 'foreign') suspect(fault);
      else state.failed(fault, calls);
      throw fault;
    } finally {
      state.ended();
    }
  }

  return {
    get load() {
      return (queue.pending + queue.size + waiting) / concurrency;
    },
    async send(outgoing, given) {
      const signal = anySignal(closed.signal, given.signal);
      if (signal.aborted) throw new RequestAbortedError(outgoing.method, signal.reason);
      try {
        // Before the queue: a waiting call must not hold a place that the head needs.
        const turn = pace.take(outgoing.calls, { rank: given.rank, signal });
        if (turn !== null) {
          waiting++;
          await turn.finally(() => waiting--);
        }
        const priority = rankPriority(given.rank);
        return await queue.add(() => post(outgoing, given, signal), { priority, signal });
      } catch (error) {
        if (error instanceof UpstreamFault || error instanceof RequestAbortedError) throw error;
        if (signal.aborted) throw new RequestAbortedError(outgoing.method, error);
        throw error;
      }
    },
    async close() {
      closed.abort();
      await endpoint.close();
    },
  };
}
