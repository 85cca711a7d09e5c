import type { Clock, Logger } from '@chainstead/core';
import { createBatchSender } from './batch-sender.ts';
import { createUpstreamState } from './create-upstream-state.ts';
import type { Deadlines } from './deadlines.ts';
import { isDoubtful } from './doubts.ts';
import type { Reaction } from './error-rules.ts';
import { RpcCallError, UpstreamFault } from './errors.ts';
import type { RawResult } from './forwarding-pool.ts';
import { type CallOutcome, interpretReply, type Wording } from './interpret-reply.ts';
import { decodeReply, encodeCall, encodeRawCall, type RpcCall } from './json-rpc.ts';
import { createLogRangePlanner, type LogRangePlanner } from './log-range-planner.ts';
import { createOwnCheck } from './own-check.ts';
import type { PoolLimits } from './pool-limits.ts';
import { createRequestCounter, measureLimits, type PoolMetrics } from './pool-metrics.ts';
import { createRawExchange } from './raw-exchange.ts';
import { createHeadReader } from './read-head.ts';
import { readRawReply } from './read-raw-reply.ts';
import { createRedactor } from './redact-secrets.ts';
import { type CallOptions, createRpcExchange } from './rpc-exchange.ts';
import type { CallPace, CallSlots } from './shares/call-limits.ts';
import type { FaultKind, OnWrongAnswer, UpstreamConfig } from './upstream-pool.ts';
import type { UpstreamState } from './upstream-state.ts';

/** A result and how large the whole answer was. */
export interface CallResult {
  readonly result: unknown;
  readonly bytes: number;
}

/** How a call of somebody else is to be made. */
export interface ForwardOptions extends CallOptions {
  /** Sent once at most, even where its connection turns out to be closed. */
  readonly isWrite?: boolean;
}

/** These say that the call asks too much, or what the upstream does not have. */
const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set([
  'range',
  'density',
  'batch-size',
  'missing-data',
  'beyond-head',
]);
/** A call that every node answers at once may take a third of the time of another one. */
const OWN_CHECK_SHARE = 3;

/** One HTTP endpoint: sends calls within its limits and knows how it has been behaving. */
export interface Upstream {
  readonly name: string;
  readonly config: UpstreamConfig;
  readonly state: UpstreamState;
  readonly logRanges: LogRangePlanner;
  /** Requests in flight or waiting, as a share of the concurrency. */
  readonly load: number;
  /** @throws UpstreamFault, RpcCallError, RequestAbortedError */
  call(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /** As call, for one that carries others' words, or whose error a contract may have written. Faults are judged as those of {@link Upstream.forward}. */
  callForeign(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /** As call, with the size of the answer. */
  callSized(method: string, params: readonly unknown[], options?: CallOptions): Promise<CallResult>;
  /** Many calls in as few HTTP requests as it accepts; outcomes in the order asked. @throws RequestAbortedError */
  callMany(calls: readonly RpcCall[], options?: CallOptions): Promise<CallOutcome[]>;
  /**
   * A call of somebody else: parameters and result as JSON text. What goes wrong with it changes nothing for other calls,
   * whatever the node says (it may say what the caller wrote): a call of our own is made then, and what comes of that counts.
   * Only a throttle told by its number counts at once. Doubtful faults (see {@link isDoubtful}) are left to `suspect`.
   * @throws as call
   */
  forward(call: { readonly method: string; readonly params: string }, options?: ForwardOptions): Promise<RawResult>;
  /** Counts a fault of a call of somebody else, and finds out with one of our own whether the upstream is ill. */
  suspect(fault: UpstreamFault): void;
  /** Asks `eth_blockNumber`; concurrent callers share one request. */
  refreshHead(): Promise<number>;
  /** Counts a wrong answer and gives the error to throw. */
  fault(kind: FaultKind, method: string, text: string): UpstreamFault;
  close(): Promise<void>;
}

/** Not in use before it was checked and enabled through its state. */
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
  /** Null where the provider sets no rate. */
  readonly pace: CallPace | null;
  /** Null where this pool alone bounds its requests in flight. */
  readonly slots: CallSlots | null;
  /** Blocks behind the others that are no fault yet. */
  readonly lagToleranceBlocks: number;
  /** Highest block that upstreams but the named one have given; null before the first. */
  readonly bestOfOthers: (name: string) => number | null;
  readonly onWrongAnswer?: OnWrongAnswer | undefined;
}): Upstream {
  const { name, config, chain, limits, metrics } = options;
  const concurrency = config.concurrency ?? limits.concurrency;
  const redact = createRedactor(config);
  const state = createUpstreamState(options);
  const exchange = createRpcExchange({ ...options, concurrency, state, redact, suspect });
  const raw = createRawExchange({ ...options, state, redact, onFault: countTransportFault });
  const closing = new AbortController();
  const own = createOwnCheck({ ...options, state, ask: askSomethingSmall, closing: closing.signal });
  const logRanges = createLogRangePlanner({ ...limits, targetBytes: limits.logsResponseBytes });
  const batches = createBatchSender({ exchange, state, redact, sizeMax: limits.batchSizeMax, callOne, observe });
  const countRequest = createRequestCounter(metrics, { chain: chain.key, upstream: name });
  measureLimits(metrics, { chain: chain.key, upstream: name }, options);
  let nextId = 1;

  function observe(method: string, outcome: CallOutcome): void {
    const label = outcome.ok ? 'ok' : outcome.error instanceof UpstreamFault ? outcome.error.kind : 'error';
    countRequest(method, label);
  }

  /** Of calls of others. No answer tells these. */
  function countTransportFault(fault: UpstreamFault): void {
    countRequest(fault.method, fault.kind);
    suspect(fault);
  }

  function suspect(fault: UpstreamFault): void {
    state.noted(fault);
    void own.check();
  }

  /** What a fault in the answer to a call of somebody else turns out to be. */
  async function judgeForeign(fault: UpstreamFault): Promise<UpstreamFault> {
    const { reaction, isSure } = fault.hints;
    if (ABOUT_THE_CALL.has(reaction)) state.noted(fault);
    else if (reaction === 'unsupported') state.abandoned();
    else if (reaction === 'timeout' || (reaction === 'transient' && !isDoubtful(fault))) suspect(fault);
    else if (reaction === 'transient') state.abandoned();
    else if (isSure === true) state.failed(fault);
    else {
      state.abandoned();
      await own.check();
      // Only its text spoke of the account: then it is an error like any other that nobody knows.
      if (state.waitMs() === 0) return withoutVerdict(fault);
    }
    return fault;
  }

  function askSomethingSmall(): Promise<unknown> {
    const timeoutMs = limits.attemptTimeoutMs / OWN_CHECK_SHARE;
    return callSized('eth_blockNumber', [], { urgent: true, timeoutMs });
  }

  async function callWorded(
    wording: Wording,
    method: string,
    params: readonly unknown[],
    given: CallOptions,
  ): Promise<CallResult> {
    const id = nextId++;
    const answer = await exchange.send(
      { payload: encodeCall({ method, params }, id), calls: 1, method, wording },
      given,
    );
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
    get load() {
      return exchange.load + raw.load;
    },
    callSized,
    callMany: (calls, given = {}) => batches.callMany(calls, given),
    async call(method, params, given) {
      const { result } = await callSized(method, params, given);
      return result;
    },
    async callForeign(method, params, given = {}) {
      const { result } = await callWorded('foreign', method, params, given);
      return result;
    },
    suspect,
    forward(call, given = {}) {
      const { method } = call;
      const id = nextId++;
      const { isWrite = false } = given;
      const sent = raw.send({ payload: encodeRawCall(call, id), id, method, isWrite }, given);
      return sent.then((reply) => {
        const outcome = readRawReply({ name, redact }, method, id, reply);
        observe(method, outcome);
        if (outcome.ok) {
          state.answered(method, reply.latencyMs);
          return outcome.result;
        }
        const { error } = outcome;
        if (error instanceof UpstreamFault)
          return judgeForeign(error).then((fault) => {
            throw fault;
          });
        state.answered(method, reply.latencyMs);
        throw error;
      });
    },
    refreshHead: createHeadReader({ ...options, state, callSized, fault }),
    fault,
    async close() {
      closing.abort();
      await Promise.all([exchange.close(), raw.close()]);
    },
  };
}

function withoutVerdict(fault: UpstreamFault): UpstreamFault {
  const { upstream, method, text, said } = fault;
  const kind = said === undefined ? 'http-status' : 'rpc-error';
  return new UpstreamFault({ upstream, method, kind, text, hints: { reaction: 'transient' }, said });
}
