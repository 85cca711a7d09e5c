import type { Clock, Logger } from '@chainstead/core';
import { isDoubtful, type Reaction, RpcCallError, UpstreamFault } from '../errors.ts';
import type { RawResult } from '../forwarding-pool.ts';
import type { ConcurrencyLimiter, LearnedPace, PoolLimits, RateLimiter } from '../limits/call-limits.ts';
import { createLogRangePlanner, type LogRangePlanner } from '../limits/log-range-planner.ts';
import { createRequestCounter, type PoolMetrics } from '../pool-metrics.ts';
import { createRedactor } from '../redact-secrets.ts';
import { createBatchSender } from '../transport/batch-sender.ts';
import type { Deadlines } from '../transport/deadlines.ts';
import { type CallOutcome, interpretReply, type Wording } from '../transport/interpret-reply.ts';
import { decodeReply, encodeCall, encodeRawCall, type RpcCall } from '../transport/json-rpc.ts';
import { createRawExchange, readRawReply } from '../transport/raw-exchange.ts';
import { type CallOptions, createRpcExchange } from '../transport/rpc-exchange.ts';
import type { FaultKind, OnWrongAnswer, UpstreamConfig } from '../upstream-pool.ts';
import type { UpstreamState } from '../upstream-state.ts';
import { createUpstreamState } from './create-upstream-state.ts';
import { createHeadReader } from './read-head.ts';
import { createOwnCheck } from './response-validator.ts';

type CallResult = { readonly result: unknown; readonly bytes: number };

/** `isWrite`: sent at most once. */
type ForwardOptions = CallOptions & { readonly isWrite?: boolean };

const LIMITS = ['range', 'density', 'batch-size', 'missing-data', 'beyond-head'] as const;
const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(LIMITS);
const OWN_CHECK_SHARE = 3;

export interface Upstream {
  readonly name: string;
  readonly config: UpstreamConfig;
  readonly state: UpstreamState;
  readonly logRanges: LogRangePlanner;
  readonly limits: Pick<PoolLimits, 'responseBytesMax' | 'blockBytesMax' | 'heavyTimeoutMs'>;
  readonly load: number;
  /** @throws UpstreamFault, RpcCallError, RequestAbortedError */
  call(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /** Client input, or errors by contracts. Faults are judged as by `forward`. */
  callForeign(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  callSized(method: string, params: readonly unknown[], options?: CallOptions): Promise<CallResult>;
  /** Few HTTP requests; in order. @throws RequestAbortedError */
  callMany(calls: readonly RpcCall[], options?: CallOptions): Promise<CallOutcome[]>;
  /**
   * JSON text, which may echo the client's: only a throttle's numeric code counts at once, else an
   * own call does. Doubtful faults ({@link isDoubtful}) are left to `suspect`. @throws as call
   */
  forward(
    call: { readonly method: string; readonly params: string },
    options?: ForwardOptions,
  ): Promise<RawResult>;
  /** Counts the fault, and checks the upstream by an own call. */
  suspect(fault: UpstreamFault): void;
  refreshHead(): Promise<number>;
  fault(kind: FaultKind, method: string, text: string): UpstreamFault;
  close(): Promise<void>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one upstream is one state: health, pace and what it offers.
export function createUpstream(options: {
  readonly name: string;
  readonly config: UpstreamConfig;
  readonly chain: { readonly key: string; readonly blockTimeMs: number };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PoolLimits;
  readonly metrics: PoolMetrics;
  readonly deadlines: Deadlines;
  readonly pace: RateLimiter;
  readonly learned: LearnedPace;
  readonly slots: ConcurrencyLimiter | null;
  readonly lagToleranceBlocks: number;
  readonly bestOfOthers: (name: string) => number | null;
  readonly onWrongAnswer?: OnWrongAnswer | undefined;
}): Upstream {
  const { name, config, chain, limits, learned, metrics, pace, slots } = options;
  const labels = { chain: chain.key, upstream: name };
  const concurrency = config.concurrency ?? limits.concurrency;
  const redact = createRedactor(config);
  const closing = new AbortController();
  const state = createUpstreamState({ ...options, closing: closing.signal });
  const exchange = createRpcExchange({ ...options, concurrency, state, redact, suspect });
  const raw = createRawExchange({ ...options, state, redact, onFault: countTransportFault });
  const checkOwn = createOwnCheck({ ...options, state, ask: requestSomethingSmall, closing: closing.signal });
  const logRanges = createLogRangePlanner({ ...limits, targetBytes: limits.logsResponseBytes });
  const { batchSizeMax: sizeMax } = limits;
  const sendBatches = createBatchSender({ ...options, exchange, state, redact, sizeMax, callOne, observe });
  const countRequest = createRequestCounter(metrics, labels);
  if (config.requestsPerSecond !== undefined) metrics.rateAllowed.set(labels, config.requestsPerSecond);
  metrics.rateLearned.addSource(labels, () => learned.perSecond ?? 0, closing.signal);
  metrics.turnsWaiting.addSource(labels, () => pace.waiting + (slots?.waiting ?? 0), closing.signal);
  let nextId = 1;

  function observe(method: string, outcome: CallOutcome): void {
    const label = outcome.ok ? 'ok' : outcome.error instanceof UpstreamFault ? outcome.error.kind : 'error';
    countRequest(method, label);
    if (outcome.ok || outcome.error instanceof RpcCallError) learned.accepted(1);
  }

  function countTransportFault(fault: UpstreamFault): void {
    countRequest(fault.method, fault.kind);
    suspect(fault);
  }

  function suspect(fault: UpstreamFault): void {
    state.noted(fault);
    void checkOwn();
  }

  async function judgeForeign(fault: UpstreamFault): Promise<UpstreamFault> {
    const { reaction, isSure } = fault.hints;
    if (ABOUT_THE_CALL.has(reaction)) state.noted(fault);
    else if (reaction === 'unsupported') state.abandoned();
    else if (reaction === 'timeout' || (reaction === 'transient' && !isDoubtful(fault))) suspect(fault);
    else if (reaction === 'transient') state.abandoned();
    else if (isSure === true) state.failed(fault);
    else {
      state.abandoned();
      await checkOwn();
      if (state.waitMs() === 0) {
        const { upstream, method, text, said } = fault;
        const kind = said === undefined ? 'http-status' : 'rpc-error';
        return new UpstreamFault({ upstream, method, kind, text, hints: { reaction: 'transient' }, said });
      }
    }
    return fault;
  }

  function requestSomethingSmall(): Promise<unknown> {
    const timeoutMs = limits.attemptTimeoutMs / OWN_CHECK_SHARE;
    return callSized('eth_blockNumber', [], { rank: 'head', timeoutMs });
  }

  async function callWorded(
    wording: Wording,
    method: string,
    params: readonly unknown[],
    given: CallOptions,
  ): Promise<CallResult> {
    const id = nextId++;
    const payload = encodeCall({ method, params }, id);
    const answer = await exchange.send({ payload, calls: 1, method, wording }, given);
    const outcome = interpretReply({ name, redact }, method, decodeReply(answer, id), answer, wording);
    observe(method, outcome);
    if (outcome.ok) {
      state.answered(method, answer.latencyMs);
      return { result: outcome.result, bytes: answer.bytes };
    }
    const { error } = outcome;
    if (!(error instanceof UpstreamFault)) state.answered(method, answer.latencyMs);
    else if (wording === 'own') state.failed(error);
    else throw await judgeForeign(error);
    throw error;
  }

  function callSized(method: string, params: readonly unknown[], given: CallOptions = {}): Promise<CallResult> {
    return callWorded('own', method, params, given);
  }

  async function callOne(call: RpcCall, given: CallOptions): Promise<CallOutcome> {
    try {
      const { result } = await callSized(call.method, call.params, given);
      return { ok: true, result };
    } catch (error) {
      if (error instanceof UpstreamFault || error instanceof RpcCallError) return { ok: false, error };
      throw error;
    }
  }

  function fault(kind: FaultKind, method: string, text: string): UpstreamFault {
    const reaction = kind === 'missing-block' || kind === 'lagging' ? 'missing-data' : 'transient';
    const counted = new UpstreamFault({ upstream: name, method, kind, text: redact(text), hints: { reaction } });
    state.failed(counted);
    return counted;
  }

  return {
    name,
    config,
    state,
    logRanges,
    limits,
    get load() {
      return exchange.load + raw.load;
    },
    callSized,
    callMany: (calls, given = {}) => sendBatches(calls, given),
    call: async (method, params, given) => (await callSized(method, params, given)).result,
    callForeign: async (method, params, given = {}) =>
      (await callWorded('foreign', method, params, given)).result,
    suspect,
    async forward(call, given = {}) {
      const { method } = call;
      const id = nextId++;
      const { isWrite = false } = given;
      const reply = await raw.send({ payload: encodeRawCall(call, id), id, method, isWrite }, given);
      const outcome = readRawReply({ name, redact }, method, id, reply);
      observe(method, outcome);
      if (!outcome.ok && outcome.error instanceof UpstreamFault) throw await judgeForeign(outcome.error);
      state.answered(method, reply.latencyMs);
      if (outcome.ok) return outcome.result;
      throw outcome.error;
    },
    refreshHead: createHeadReader({ ...options, state, callSized, fault }),
    fault,
    async close() {
      closing.abort();
      await Promise.all([exchange.close(), raw.close()]);
    },
  };
}
