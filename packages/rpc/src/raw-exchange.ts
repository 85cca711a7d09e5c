import type { Clock } from '@chainstead/core';
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
import type { TokenBucket } from './token-bucket.ts';
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

/** A call that waits for its turn; null once it was given up. */
interface Waiting {
  go: (() => void) | null;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Calls that had their turn and stay in the list until so many are dropped at once. */
const WAITING_KEPT = 1_000;

/**
 * Beside the exchange of this process' own calls, with the same state and rate: on the usual path nothing but a counter
 * stands between a call and its connection.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the stages of one exchange share its deadlines and its body.
export function createRawExchange(options: {
  readonly config: UpstreamConfig;
  readonly bucket: TokenBucket | null;
  readonly state: UpstreamState;
  readonly redact: Redactor;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly limits: PoolLimits;
  /** Counts a fault. */
  readonly onFault: (fault: UpstreamFault) => void;
}): RawExchange {
  const { config, bucket, state, redact, clock, deadlines, limits, onFault } = options;
  const { name } = state;
  const concurrency = config.concurrency ?? limits.forwardConcurrency;
  const url = new URL(config.url);
  const settings = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_TIMEOUT_MS } };
  const reads = new Pool(url.origin, { ...settings, connections: concurrency });
  // Without keep-alive: a connection that the server is just closing must not make a send doubtful.
  const writes = new Pool(url.origin, { ...settings, connections: concurrency, pipelining: 0 });
  const waiting: Waiting[] = [];
  let nextWaiting = 0;
  let waitingCount = 0;
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
      if (waitingCount > 0) letIn();
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

  function letIn(): void {
    while (waitingCount > 0 && (isClosed || inFlight < concurrency)) {
      const go = waiting[nextWaiting++]?.go ?? null;
      if (go === null) continue;
      waitingCount--;
      go();
    }
    if (waitingCount === 0 || nextWaiting > WAITING_KEPT) {
      waiting.splice(0, waitingCount === 0 ? waiting.length : nextWaiting);
      nextWaiting = 0;
    }
  }

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
    if (inFlight < concurrency) return start(message, given);
    const { method } = message;
    if (waitingCount >= limits.forwardWaitingMax)
      return Promise.reject(unsentFault(name, method, `${waitingCount} calls wait already`, 0));
    const { signal } = given;
    return new Promise((resolve, reject) => {
      const turn: Waiting = {
        go() {
          signal?.removeEventListener('abort', onAbort);
          const pause = state.waitMs();
          if (isClosed) reject(new RequestAbortedError(method));
          // It was paused, or its circuit opened, while this call waited.
          else if (pause !== null && pause > 0) reject(unsentFault(name, method, state.obstacle, pause));
          else resolve(start(message, given));
        },
      };
      const onAbort = (): void => {
        turn.go = null;
        waitingCount--;
        reject(new RequestAbortedError(method, signal?.reason));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.push(turn);
      waitingCount++;
    });
  }

  async function sendWithinRate(rate: TokenBucket, message: RawMessage, given: CallOptions): Promise<RawReply> {
    const wait = rate.take(1, clock.now());
    if (wait > 0) {
      try {
        await clock.sleep(wait, given.signal);
      } catch (error) {
        throw new RequestAbortedError(message.method, error);
      }
    }
    return startWhenFree(message, given);
  }

  return {
    get load() {
      return (inFlight + waitingCount) / concurrency;
    },
    send(message, given) {
      if (isClosed || given.signal?.aborted)
        return Promise.reject(new RequestAbortedError(message.method, given.signal?.reason));
      return bucket === null ? startWhenFree(message, given) : sendWithinRate(bucket, message, given);
    },
    async close() {
      isClosed = true;
      letIn();
      await Promise.all([reads.destroy(), writes.destroy()]);
    },
  };
}
