import { inParts } from '@chainstead/core';
import { isAboutSize, RpcCallError, UpstreamFault } from '../errors.ts';
import type { LearnedPace } from '../limits/call-limits.ts';
import type { Redactor } from '../redact-secrets.ts';
import type { UpstreamState } from '../upstream-state.ts';
import { type CallOutcome, interpretReply } from './interpret-reply.ts';
import { decodeBatch, encodeBatch, type RpcCall, type RpcReply } from './json-rpc.ts';
import type { CallOptions, RpcExchange, TimedAnswer } from './rpc-exchange.ts';

/** In request order. @throws RequestAbortedError */
type BatchSender = (calls: readonly RpcCall[], options: CallOptions) => Promise<CallOutcome[]>;

/** Free plans allow three. Growing costs less than a refusal. */
const SIZE_START = 20;
const NO_REPLY: RpcReply = { kind: 'malformed', text: 'an element of the batch has no answer' };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what waits, what is under way and the size of batches are one state.
export function createBatchSender(options: {
  readonly exchange: RpcExchange;
  readonly state: UpstreamState;
  readonly redact: Redactor;
  readonly learned: Pick<LearnedPace, 'batchMax'>;
  readonly sizeMax: number;
  readonly callOne: (call: RpcCall, options: CallOptions) => Promise<CallOutcome>;
  readonly observe: (method: string, outcome: CallOutcome) => void;
}): BatchSender {
  const { exchange, state, redact, learned, sizeMax, callOne, observe } = options;
  const origin = { name: state.name, redact };
  let size = Math.min(SIZE_START, sizeMax);

  async function send(calls: readonly RpcCall[], given: CallOptions): Promise<CallOutcome[]> {
    const first = calls[0];
    if (first === undefined) return [];
    if (calls.length === 1 || state.capabilities.batch === false)
      return Promise.all(calls.map((call) => callOne(call, given)));
    let answer: TimedAnswer;
    try {
      const outgoing = { payload: encodeBatch(calls), calls: calls.length, method: first.method };
      answer = await exchange.send(outgoing, given);
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error;
      if (isAboutSize(error)) return sendSmaller(calls, given);
      if (error.kind === 'timeout') shrink(calls.length);
      return calls.map(() => ({ ok: false, error }));
    }
    const replies = decodeBatch(answer, calls.length);
    if (!Array.isArray(replies)) return refused(calls, replies, answer, given);
    state.capabilities.batch = true;
    const outcomes = calls.map((call, index) => {
      const outcome = interpretReply(origin, call.method, replies[index] ?? NO_REPLY, answer);
      observe(call.method, outcome);
      return outcome;
    });
    record(outcomes, answer.latencyMs);
    if (calls.length >= size && outcomes.every((outcome) => outcome.ok))
      size = Math.min(sizeMax, Math.ceil(size * 1.25));
    return retryOversized(calls, outcomes, given);
  }

  async function refused(
    calls: readonly RpcCall[],
    reply: RpcReply,
    answer: TimedAnswer,
    given: CallOptions,
  ): Promise<CallOutcome[]> {
    const outcome = interpretReply(origin, calls[0]?.method ?? 'batch', reply, answer);
    if (outcome.ok) return calls.map(() => outcome);
    const { error } = outcome;
    if (isAboutSize(error)) return sendSmaller(calls, given);
    // Without batch support: an invalid request, or an unrelated response.
    if (error instanceof RpcCallError || error.kind === 'malformed' || error.hints.reaction === 'unsupported') {
      if (state.capabilities.batch === true) return sendSmaller(calls, given);
      state.capabilities.batch = false;
      return send(calls, given);
    }
    for (const call of calls) observe(call.method, outcome);
    state.failed(error, calls.length);
    return calls.map(() => outcome);
  }

  function shrink(tried: number): void {
    size = Math.max(1, Math.min(size, Math.floor(tried / 2)));
  }

  async function sendSmaller(calls: readonly RpcCall[], given: CallOptions): Promise<CallOutcome[]> {
    shrink(calls.length);
    const half = Math.ceil(calls.length / 2);
    const parts = await Promise.all([send(calls.slice(0, half), given), send(calls.slice(half), given)]);
    return parts.flat();
  }

  /** "Too large" inside a batch is about the batch: those calls are sent again. */
  async function retryOversized(
    calls: readonly RpcCall[],
    outcomes: CallOutcome[],
    given: CallOptions,
  ): Promise<CallOutcome[]> {
    const oversized = outcomes.flatMap((outcome, index) =>
      !outcome.ok && isAboutSize(outcome.error) ? [index] : [],
    );
    if (oversized.length === 0) return outcomes;
    const retried = oversized.flatMap((index) => calls[index] ?? []);
    const again = await sendSmaller(retried, given);
    oversized.forEach((index, position) => {
      const outcome = again[position];
      if (outcome !== undefined) outcomes[index] = outcome;
    });
    return outcomes;
  }

  function record(outcomes: readonly CallOutcome[], latencyMs: number): void {
    if (outcomes.some((outcome) => outcome.ok || outcome.error instanceof RpcCallError))
      state.answered('batch', latencyMs);
    const faults = new Map<string, { readonly fault: UpstreamFault; calls: number }>();
    for (const outcome of outcomes) {
      if (outcome.ok || !(outcome.error instanceof UpstreamFault) || isAboutSize(outcome.error)) continue;
      const key = `${outcome.error.kind} ${outcome.error.method}`;
      const alike = faults.get(key);
      if (alike === undefined) faults.set(key, { fault: outcome.error, calls: 1 });
      else alike.calls++;
    }
    for (const { fault, calls } of faults.values()) state.failed(fault, calls);
  }

  return async (calls, given) => {
    const step =
      state.capabilities.batch === false ? Math.max(1, calls.length) : Math.min(size, learned.batchMax ?? size);
    return (await Promise.all(inParts(calls, step).map((part) => send(part, given)))).flat();
  };
}
