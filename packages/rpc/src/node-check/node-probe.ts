import { type Clock, quotable } from '@chainstead/core';
import { TransportError } from '@chainstead/upstream-http';
import type { Reaction } from '../error-rules.ts';
import { RequestAbortedError, UpstreamFault } from '../errors.ts';
import { createHttpEndpoint } from '../http-endpoint.ts';
import { type CallOutcome, interpretReply } from '../interpret-reply.ts';
import { decodeBatch, decodeReply, encodeBatch, encodeCall, type RpcCall } from '../json-rpc.ts';
import { createRedactor, nameUpstreams } from '../redact-secrets.ts';
import { createLocalLimits } from '../shares/limiters.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';

/** What a node answered to one call. */
export type ProbeAnswer =
  | { readonly ok: true; readonly result: unknown; readonly ms: number }
  | {
      readonly ok: false;
      /** `transport`: no usable answer came at all. */
      readonly reaction: Reaction | 'transport';
      /** In the node's words, without secrets. */
      readonly text: string;
      /** Blocks that it allows for one call, where it says so. */
      readonly limitBlocks: number | null;
      readonly ms: number;
    };

/** Asks one node one thing after the other, within bounds, and tries nothing twice. */
export interface NodeProbe {
  readonly name: string;
  readonly config: UpstreamConfig;
  /** So far; of a batch each. */
  readonly calls: number;
  /** @throws RequestAbortedError when the time or the calls are used up */
  ask(method: string, params: readonly unknown[]): Promise<ProbeAnswer>;
  /** In one request. @throws as ask */
  askTogether(calls: readonly RpcCall[]): Promise<ProbeAnswer[]>;
  close(): Promise<void>;
}

export interface NodeProbeOptions {
  readonly config: UpstreamConfig;
  /** Of one request. Milliseconds. */
  readonly timeoutMs: number;
  readonly callsMax: number;
  /** Of all of it. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const CONNECTIONS = 4;

/** Keeps to the rate that is configured for the node. Opens no connection yet. */
export function createNodeProbe({ config, timeoutMs, callsMax, signal, clock }: NodeProbeOptions): NodeProbe {
  const [name = ''] = nameUpstreams([config]);
  const redact = createRedactor(config);
  const endpoint = createHttpEndpoint({ config, concurrency: CONNECTIONS, responseBytesMax: ANSWER_BYTES_MAX });
  const pace = createLocalLimits(clock).paceOf(config);
  let calls = 0;

  async function take(method: string, count: number): Promise<void> {
    if (signal.aborted || calls + count > callsMax) throw new RequestAbortedError(method);
    calls += count;
    try {
      await pace?.take(count, { signal });
    } catch (error) {
      if (signal.aborted) throw new RequestAbortedError(method, error);
      throw error;
    }
  }

  function answerOf(outcome: CallOutcome, ms: number): ProbeAnswer {
    if (outcome.ok) return { ok: true, result: outcome.result, ms };
    const { error } = outcome;
    if (error instanceof UpstreamFault)
      return {
        ok: false,
        reaction: error.hints.reaction,
        text: quotable(error.text),
        limitBlocks: error.hints.limitBlocks ?? null,
        ms,
      };
    return { ok: false, reaction: 'call', text: quotable(error.rpcMessage), limitBlocks: null, ms };
  }

  /** @returns the answers, of which there are as many as calls */
  async function send(asked: readonly RpcCall[], payload: string): Promise<ProbeAnswer[]> {
    const [first] = asked;
    if (first === undefined) return [];
    await take(first.method, asked.length);
    const startedAt = performance.now();
    try {
      const answer = await endpoint.post(payload, { timeoutMs, signal });
      const ms = performance.now() - startedAt;
      const replies = asked.length === 1 ? [decodeReply(answer, 0)] : decodeBatch(answer, asked.length);
      return asked.map(({ method }, index) => {
        const reply = Array.isArray(replies) ? replies[index] : replies;
        if (reply === undefined) throw new TypeError('A batch has fewer replies than calls');
        return answerOf(interpretReply({ name, redact }, method, reply, answer), ms);
      });
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      if (error.kind === 'aborted') throw new RequestAbortedError(first.method, error);
      const ms = performance.now() - startedAt;
      const text = quotable(redact(error.message));
      return asked.map(() => ({ ok: false, reaction: 'transport', text, limitBlocks: null, ms }));
    }
  }

  return {
    name,
    config,
    get calls() {
      return calls;
    },
    async ask(method, params) {
      const [answer] = await send([{ method, params }], encodeCall({ method, params }, 0));
      if (answer === undefined) throw new TypeError('A call has no answer');
      return answer;
    },
    askTogether: (asked) => send(asked, encodeBatch(asked)),
    close: () => endpoint.close(),
  };
}
