import { TransportError } from '@chainstead/upstream-http';
import { Pool } from 'undici';
import type { Deadlines } from './deadlines.ts';
import { RequestAbortedError, type UpstreamFault } from './errors.ts';
import { requestHeaders } from './http-endpoint.ts';
import { attemptTimeout, type PoolLimits } from './pool-limits.ts';
import { type RawReply, type RawRequestShared, sendRaw } from './raw-request.ts';
import type { Redactor } from './redact-secrets.ts';
import { BrokenResultError } from './result-stream.ts';
import type { CallOptions } from './rpc-exchange.ts';
import type { CallPace, CallSlots } from './shares/call-limits.ts';
import { createCallSlots } from './shares/limiters.ts';
import { transportFault, unsentFault } from './transport-fault.ts';
import type { UpstreamConfig } from './upstream-pool.ts';
import type { UpstreamState } from './upstream-state.ts';

/** One call, its body composed. */
export interface RawMessage {
  readonly payload: string;
  readonly id: number;
  readonly method: string;
  /** Sent once at most, over a connection of its own. */
  readonly isWrite?: boolean;
}

/** Sends calls of others to one upstream and gives the answers unparsed. */
export interface RawExchange {
  /** Calls in flight or waiting, as a share of what may be in flight. */
  readonly load: number;
  /** @throws UpstreamFault, RequestAbortedError */
  send(message: RawMessage, given: CallOptions): Promise<RawReply>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Beside the exchange of this process' own calls, with the same state and rate: on the usual path nothing but a counter
 * stands between a call and its connection.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the stages of one exchange share its deadlines and its body.
export function createRawExchange(options: {
  readonly config: UpstreamConfig;
  readonly pace: CallPace | null;
  /** Null where this exchange alone bounds its requests in flight. */
  readonly slots: CallSlots | null;
  readonly state: UpstreamState;
  readonly redact: Redactor;
  readonly deadlines: Deadlines;
  readonly limits: PoolLimits;
  /** Counts a fault. */
  readonly onFault: (fault: UpstreamFault) => void;
}): RawExchange {
  const { config, pace, slots, state, redact, deadlines, limits, onFault } = options;
  const { name } = state;
  const concurrency = config.concurrency ?? limits.forwardConcurrency;
  const url = new URL(config.url);
  const settings = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_TIMEOUT_MS } };
  const reads = new Pool(url.origin, { ...settings, connections: concurrency });
  // Without keep-alive: a connection that the server is just closing must not make a send doubtful.
  const writes = new Pool(url.origin, { ...settings, connections: concurrency, pipelining: 0 });
  const bounded = slots ?? createCallSlots({ share: concurrency, reserves: false });
  let waiting = 0;
  let inFlight = 0;
  let isClosed = false;

  const shared: RawRequestShared = {
    dispatcher: reads,
    path: `${url.pathname}${url.search}`,
    headers: requestHeaders(url, config),
    deadlines,
    limits,
    ended() {
      inFlight--;
      state.ended();
      bounded.leave();
    },
    broken(method, error) {
      if (error.kind === 'aborted') {
        state.abandoned();
        return new RequestAbortedError(method, error);
      }
      const fault = transportFault({ name, redact }, method, error);
      onFault(fault);
      return new BrokenResultError({ upstream: name, method, reason: redact(error.message), cause: error });
    },
  };
  const sharedByWrites: RawRequestShared = { ...shared, dispatcher: writes };

  function start(message: RawMessage, given: CallOptions): Promise<RawReply> {
    inFlight++;
    state.sent();
    const { payload, id, method, isWrite = false } = message;
    const { signal, timeoutMs = attemptTimeout(method, limits) } = given;
    return sendRaw(isWrite ? sharedByWrites : shared, {
      payload,
      id,
      method,
      isRepeatable: !isWrite,
      timeoutMs,
      signal,
    }).catch((error: unknown) => {
      throw toFault(error, method, signal);
    });
  }

  function toFault(error: unknown, method: string, signal: AbortSignal | undefined): unknown {
    if (!(error instanceof TransportError)) return error;
    if (error.kind === 'aborted' || isClosed) {
      state.abandoned();
      return new RequestAbortedError(method, signal?.reason ?? error);
    }
    const fault = transportFault({ name, redact }, method, error);
    onFault(fault);
    return fault;
  }

  function startWhenFree(message: RawMessage, given: CallOptions): Promise<RawReply> {
    if (bounded.waiting >= limits.forwardWaitingMax)
      return Promise.reject(unsentFault(name, message.method, `${bounded.waiting} calls wait already`, 0));
    const turn = bounded.take(1, given);
    return turn === null ? start(message, given) : startInTurn(turn, message, given);
  }

  async function startInTurn(turn: Promise<void>, message: RawMessage, given: CallOptions): Promise<RawReply> {
    const { method } = message;
    waiting++;
    try {
      await turn;
    } catch (error) {
      throw new RequestAbortedError(method, error);
    } finally {
      waiting--;
    }
    const problem = problemAfterWait(method, given.signal);
    if (problem === null) return start(message, given);
    bounded.leave();
    throw problem;
  }

  function problemAfterWait(method: string, signal: AbortSignal | undefined): Error | null {
    // The request that made room may have been given up by the same signal.
    if (isClosed || signal?.aborted) return new RequestAbortedError(method, signal?.reason);
    const pause = state.waitMs();
    // It was paused, or its circuit opened, while this call waited.
    return pause !== null && pause > 0 ? unsentFault(name, method, state.obstacle, pause) : null;
  }

  async function sendInTurn(turn: Promise<void>, message: RawMessage, given: CallOptions): Promise<RawReply> {
    try {
      await turn;
    } catch (error) {
      throw new RequestAbortedError(message.method, error);
    }
    return startWhenFree(message, given);
  }

  return {
    get load() {
      return (inFlight + waiting) / concurrency;
    },
    send(message, given) {
      if (isClosed || given.signal?.aborted)
        return Promise.reject(new RequestAbortedError(message.method, given.signal?.reason));
      const turn = pace?.take(1, given) ?? null;
      return turn === null ? startWhenFree(message, given) : sendInTurn(turn, message, given);
    },
    async close() {
      // Those that wait go, and give up, as the requests in flight end.
      isClosed = true;
      await Promise.all([reads.destroy(), writes.destroy()]);
    },
  };
}
