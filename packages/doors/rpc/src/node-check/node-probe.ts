import {
  type BlockHeader,
  type Clock,
  InvalidPrimitiveError,
  isQuantity,
  parseBigQuantity,
  quotable,
  toQuantity,
} from '@chainstead/core';
import { pauseFor } from '../aborting.ts';
import { type Reaction, RequestAbortedError, UpstreamFault } from '../errors.ts';
import { parseHeader } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { RateLimiter } from '../limits/call-limits.ts';
import { bothPaces } from '../limits/learned-pace.ts';
import { createTokenBucket } from '../limits/limiters.ts';
import { createLocalUpstreamLimits } from '../limits/local-limits.ts';
import { createRedactor, nameUpstreams } from '../redact-secrets.ts';
import { createHttpEndpoint } from '../transport/http-endpoint.ts';
import { type CallOutcome, interpretReply } from '../transport/interpret-reply.ts';
import { decodeBatch, decodeReply, encodeBatch, encodeCall, type RpcCall } from '../transport/json-rpc.ts';
import { TransportError } from '../upstream-http/index.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';

export type ProbeAnswer =
  | { readonly ok: true; readonly result: unknown; readonly ms: number }
  | {
      readonly ok: false;
      /** `transport`: no usable response. */
      readonly reaction: Reaction | 'transport';
      readonly text: string;
      readonly retryAfterMs?: number | undefined;
      /** Per call; null: not stated. */
      readonly limitBlocks: number | null;
      readonly ms: number;
    };

/** In sequence, within bounds, at the node's pace. */
export interface NodeProbe {
  readonly name: string;
  readonly config: UpstreamConfig;
  readonly calls: number;
  readonly learnedRate: number | null;
  /** Null: no rate was measured. */
  readonly measuredRate: number | null;
  /** No later call exceeds it. */
  paceAt(perSecond: number): void;
  /** One call at the configured rate alone, once. @throws as ask */
  tryOnce(method: string, params: readonly unknown[]): Promise<ProbeAnswer>;
  /** Retries at a rate limit. @throws RequestAbortedError if time, calls or tries are used up */
  ask(method: string, params: readonly unknown[]): Promise<ProbeAnswer>;
  /** One request, once. @throws as ask */
  fetchTogether(calls: readonly RpcCall[]): Promise<ProbeAnswer[]>;
  close(): Promise<void>;
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** As many as the program has in flight: with fewer, latency would hide the limit of the rate. */
const CONNECTIONS = 24;
/** Two bursts may fall in one window of a provider. */
const BURST_SECONDS = 0.25;
const THROTTLED_TRIES = 8;
const PAUSE_MS = 250;
const PAUSE_MAX_MS = 4_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one probe is one state: its pace, its calls and its connection.
export function createNodeProbe(options: {
  readonly config: UpstreamConfig;
  readonly timeoutMs: number;
  readonly callsMax: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}): NodeProbe {
  const { config, timeoutMs, callsMax, signal, clock } = options;
  const [name = ''] = nameUpstreams([config]);
  const redact = createRedactor(config);
  const answers = { limits: { responseBytesMax: ANSWER_BYTES_MAX }, compressed: true };
  const endpoint = createHttpEndpoint({ config, connections: CONNECTIONS, ...answers });
  const limits = createLocalUpstreamLimits(clock);
  const learned = limits.learnedPaceOf(config);
  const configured = limits.rateLimiterOf(config);
  let measured: { readonly perSecond: number; readonly pace: RateLimiter } | null = null;
  let calls = 0;

  const paced = (): RateLimiter => bothPaces(configured, measured?.pace ?? learned);

  async function take(method: string, count: number, pace: RateLimiter | null): Promise<void> {
    if (signal.aborted || calls + count > callsMax) throw new RequestAbortedError(method);
    calls += count;
    try {
      await pace?.take(count, { signal });
    } catch (error) {
      if (signal.aborted) throw new RequestAbortedError(method, error);
      throw error;
    }
  }

  async function send(
    requested: readonly RpcCall[],
    payload: string,
    pace: RateLimiter | null = paced(),
  ): Promise<ProbeAnswer[]> {
    const [first] = requested;
    if (first === undefined) return [];
    await take(first.method, requested.length, pace);
    const startedAt = performance.now();
    try {
      const answer = await endpoint.post(payload, { timeoutMs, signal });
      const ms = performance.now() - startedAt;
      const replies = requested.length === 1 ? [decodeReply(answer, 0)] : decodeBatch(answer, requested.length);
      return requested.map(({ method }, index) => {
        const reply = Array.isArray(replies) ? replies[index] : replies;
        if (reply === undefined) throw new TypeError('A batch has fewer replies than calls');
        return answerOf(interpretReply({ name, redact }, method, reply, answer), ms);
      });
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      if (error.kind === 'aborted') throw new RequestAbortedError(first.method, error);
      const ms = performance.now() - startedAt;
      const text = quotable(redact(error.message));
      return requested.map(() => ({ ok: false, reaction: 'transport', text, limitBlocks: null, ms }));
    }
  }

  async function sendOne(call: RpcCall, pace?: RateLimiter | null): Promise<ProbeAnswer> {
    const [answer] = await send([call], encodeCall(call, 0), pace);
    if (answer === undefined) throw new TypeError('A call has no answer');
    return answer;
  }

  return {
    name,
    config,
    get calls() {
      return calls;
    },
    get learnedRate() {
      return learned.perSecond;
    },
    get measuredRate() {
      return measured?.perSecond ?? null;
    },
    paceAt(perSecond) {
      measured = { perSecond, pace: createTokenBucket({ share: perSecond, clock, burstSeconds: BURST_SECONDS }) };
    },
    tryOnce: (method, params) => sendOne({ method, params }, configured),
    async ask(method, params) {
      for (let tries = 1; ; tries++) {
        const answer = await sendOne({ method, params });
        if (answer.ok || answer.reaction !== 'throttled') {
          learned.accepted(1);
          return answer;
        }
        learned.refused(1);
        // A refusal must not look like a missing method.
        if (tries === THROTTLED_TRIES) throw new RequestAbortedError(method);
        const pause = Math.max(answer.retryAfterMs ?? 0, Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** tries));
        await pauseFor(clock, pause, signal, method);
      }
    },
    fetchTogether: (requested) => send(requested, encodeBatch(requested)),
    close: () => endpoint.close(),
  };
}

function answerOf(outcome: CallOutcome, ms: number): ProbeAnswer {
  if (outcome.ok) return { ok: true, result: outcome.result, ms };
  const { error } = outcome;
  if (error instanceof UpstreamFault)
    return {
      ok: false,
      reaction: error.hints.reaction,
      text: quotable(error.text),
      retryAfterMs: error.hints.retryAfterMs,
      limitBlocks: error.hints.limitBlocks ?? null,
      ms,
    };
  return { ok: false, reaction: 'call', text: quotable(error.rpcMessage), limitBlocks: null, ms };
}

export interface ProbedBlock {
  readonly header: BlockHeader;
  readonly transactions: number;
}

/** Null: none; otherwise why it is unknown. @throws RequestAbortedError */
export async function probeBlock(
  probe: NodeProbe,
  at: number | string,
): Promise<ProbedBlock | null | { readonly problem: string }> {
  const tag = typeof at === 'number' ? toQuantity(at) : at;
  const answer = await probe.ask('eth_getBlockByNumber', [tag, false]);
  if (!answer.ok) return { problem: answer.text };
  const { result } = answer;
  if (result === null) return null;
  try {
    const header = parseHeader(result);
    const { transactions } = Object(result);
    return { header, transactions: Array.isArray(transactions) ? transactions.length : 0 };
  } catch (error) {
    if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
      return { problem: `no block: ${error.message}` };
    throw error;
  }
}

export function isBlock(probed: ProbedBlock | null | { readonly problem: string }): probed is ProbedBlock {
  return probed !== null && 'header' in probed;
}

export function quantityOf(answer: ProbeAnswer): number | null {
  if (!answer.ok || !isQuantity(answer.result)) return null;
  const value = Number(parseBigQuantity(answer.result));
  return Number.isSafeInteger(value) ? value : null;
}

export async function largestThatWorks(
  { works, fails, steps }: { readonly works: number; readonly fails: number; readonly steps: number },
  tries: (value: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [works, fails];
  for (let step = 0; step < steps && high - low > Math.max(1, low / 10); step++) {
    const middle = Math.min(high - 1, Math.max(low + 1, Math.round(Math.sqrt(Math.max(1, low) * high))));
    if (await tries(middle)) low = middle;
    else high = middle;
  }
  return low;
}
