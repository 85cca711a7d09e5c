import { RequestAbortedError, UpstreamFault } from '../errors.ts';
import type { RawResult } from '../forwarding-pool.ts';
import {
  attemptTimeout,
  type ConcurrencyLimiter,
  type PoolLimits,
  type RateLimiter,
} from '../limits/call-limits.ts';
import { createCallSlots } from '../limits/limiters.ts';
import type { Redactor } from '../redact-secrets.ts';
import { TransportError } from '../upstream-http/index.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';
import type { UpstreamState } from '../upstream-state.ts';
import type { Deadlines } from './deadlines.ts';
import { createHttpEndpoint, toAnswer } from './http-endpoint.ts';
import { type CallOutcome, interpretReply, transportFault, unsentFault } from './interpret-reply.ts';
import { decodeReply } from './json-rpc.ts';
import { isId, type RawReply } from './raw-request.ts';
import { BrokenResultError } from './result-stream.ts';
import type { CallOptions } from './rpc-exchange.ts';
import { type ByteSpan, scanEnvelope } from './scan-envelope.ts';

interface RawMessage {
  readonly payload: string;
  readonly id: number;
  readonly method: string;
  /** Sent at most once, over a separate connection. */
  readonly isWrite?: boolean;
}

interface RawExchange {
  readonly load: number;
  /** @throws UpstreamFault, RequestAbortedError */
  send(message: RawMessage, given: CallOptions): Promise<RawReply>;
  close(): Promise<void>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the stages of one exchange share its deadlines and its body.
export function createRawExchange(options: {
  readonly config: UpstreamConfig;
  readonly pace: RateLimiter;
  readonly slots: ConcurrencyLimiter | null;
  readonly state: UpstreamState;
  readonly redact: Redactor;
  readonly deadlines: Deadlines;
  readonly limits: PoolLimits;
  readonly onFault: (fault: UpstreamFault) => void;
}): RawExchange {
  const { config, pace, slots, state, redact, deadlines, limits, onFault } = options;
  const { name } = state;
  const concurrency = config.concurrency ?? limits.forwardConcurrency;
  const bounded = slots ?? createCallSlots({ share: concurrency, reserves: false });
  let waiting = 0;
  let inFlight = 0;
  let isClosed = false;

  const shared = {
    config,
    connections: concurrency,
    deadlines,
    limits,
    ended(): void {
      inFlight--;
      state.ended();
      bounded.leave();
    },
    broken(method: string, error: TransportError): Error {
      if (error.kind === 'aborted') {
        state.abandoned();
        return new RequestAbortedError(method, error);
      }
      const fault = transportFault({ name, redact }, method, error);
      onFault(fault);
      return new BrokenResultError({ upstream: name, method, reason: redact(error.message), cause: error });
    },
  };
  const reads = createHttpEndpoint(shared);
  const writes = createHttpEndpoint({ ...shared, keepAlive: false });

  function start(message: RawMessage, given: CallOptions): Promise<RawReply> {
    inFlight++;
    state.sent();
    const { payload, id, method, isWrite = false } = message;
    const { signal, timeoutMs = attemptTimeout(method, limits) } = given;
    const endpoint = isWrite ? writes : reads;
    return endpoint
      .send({ payload, id, method, isRepeatable: !isWrite, timeoutMs, signal })
      .catch((error: unknown) => {
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
    waiting++;
    await until(turn, message.method).finally(() => waiting--);
    const problem = problemAfterWait(message.method, given.signal);
    if (problem === null) return start(message, given);
    bounded.leave();
    throw problem;
  }

  async function until(turn: Promise<void>, method: string): Promise<void> {
    try {
      await turn;
    } catch (error) {
      throw new RequestAbortedError(method, error);
    }
  }

  function problemAfterWait(method: string, signal: AbortSignal | undefined): Error | null {
    // The request that freed the slot may have been aborted by the same signal.
    if (isClosed || signal?.aborted) return new RequestAbortedError(method, signal?.reason);
    const pause = state.waitMs();
    return pause !== null && pause > 0 ? unsentFault(name, method, state.obstacle, pause) : null;
  }

  async function sendInTurn(turn: Promise<void>, message: RawMessage, given: CallOptions): Promise<RawReply> {
    await until(turn, message.method);
    return startWhenFree(message, given);
  }

  return {
    get load() {
      return (inFlight + waiting) / concurrency;
    },
    send(message, given) {
      if (isClosed || given.signal?.aborted)
        return Promise.reject(new RequestAbortedError(message.method, given.signal?.reason));
      const turn = pace.take(1, given);
      return turn === null ? startWhenFree(message, given) : sendInTurn(turn, message, given);
    },
    async close() {
      isClosed = true;
      await Promise.all([reads.close(), writes.close()]);
    },
  };
}

export function readRawReply(
  upstream: { readonly name: string; readonly redact: Redactor },
  method: string,
  id: number,
  reply: RawReply,
): CallOutcome<RawResult> {
  if (reply.kind === 'stream') return { ok: true, result: reply.pieces };
  const { statusCode, body } = reply;
  if (statusCode >= 200 && statusCode <= 299) {
    const result = findResult(body, id);
    if (result !== null) return { ok: true, result };
  }
  try {
    const answer = toAnswer(reply, body);
    const outcome = interpretReply(upstream, method, decodeReply(answer, id), answer, 'foreign');
    if (!outcome.ok) return outcome;
    const text = 'the answer cannot be cut out of its envelope';
    const hints = { reaction: 'transient' } as const;
    const error = new UpstreamFault({ upstream: upstream.name, method, kind: 'malformed', text, hints });
    return { ok: false, error };
  } catch (error) {
    if (error instanceof TransportError) return { ok: false, error: transportFault(upstream, method, error) };
    throw error;
  }
}

function findResult(body: Buffer, id: number): Buffer | null {
  const envelope = scanEnvelope(body);
  if (envelope.kind !== 'complete' || envelope.result === null) return null;
  const textOf = ({ start, end }: ByteSpan): string => body.toString('latin1', start, end);
  if (envelope.error !== null && textOf(envelope.error) !== 'null') return null;
  if (envelope.id !== null && !isId(textOf(envelope.id), id)) return null;
  return body.subarray(envelope.result.start, envelope.result.end);
}
