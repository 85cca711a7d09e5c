import { errorText, type Logger } from '@chainstead/core';
import type { RateLimits } from '../access/rate-limits.ts';
import type { Call, HandleCall, Outcome, RequestScope } from '../call.ts';
import { failedOutcome } from '../calls/call-error.ts';
import { checkLogRange } from '../calls/limit-log-range.ts';
import { FILTER_NOT_FOUND, type FilterContext, type Filters } from '../filters/filters.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { findMethod, type GatewayMethod, type MethodFacts, readParams } from '../methods/method-table.ts';
import type { ReadRequest } from '../protocol/read-requests.ts';
import {
  INTERNAL_ERROR,
  needsSocket,
  notSupported,
  RATE_LIMITED,
  type RpcErrorObject,
  TIMED_OUT,
  tracesOff,
  unavailable,
} from '../protocol/rpc-errors.ts';
import { countTime, type UsageCounter } from '../usage/usage-counter.ts';
import type { RequestContext } from './open-scope.ts';

export interface Answered {
  readonly outcome: Outcome;
  readonly refusal: 'unsupported' | 'rate-limited' | null;
  readonly retryAfterMs: number;
  addBytes(bytes: number): void;
}

export type AnswerRequest = (request: ReadRequest, context: RequestContext) => Answered | Promise<Answered>;

interface AnswerRequestOptions {
  readonly answer: HandleCall;
  readonly answerStateful: HandleStateful;
  readonly rateLimits: RateLimits;
  readonly usage: UsageCounter;
  readonly metrics: GatewayMetrics;
  readonly offersTraces?: boolean | undefined;
  readonly logger: Logger;
}

export function createAnswerRequest(options: AnswerRequestOptions): AnswerRequest {
  const { answerStateful, rateLimits, usage, metrics } = options;
  const answerSafely = createSafeAnswer(options);

  function refused(
    { served }: RequestContext,
    refusal: 'unsupported' | 'rate-limited',
    error: RpcErrorObject,
    retryAfterMs = 0,
  ): Answered {
    metrics.refusals.inc({ chain: served.chain.slug, reason: refusal });
    return { outcome: { ok: false, error }, refusal, retryAfterMs, addBytes: ignore };
  }

  function answerChecked(call: Call, scope: RequestScope): Outcome | Promise<Outcome> {
    if (call.method.name !== 'eth_getLogs') return answerSafely(call, scope);
    const problem = checkLogRange(call, scope, answerSafely);
    const go = (error: RpcErrorObject | null) =>
      error === null ? answerSafely(call, scope) : ({ ok: false, error } as const);
    return problem instanceof Promise ? problem.then(go) : go(problem);
  }

  function answerStarted(call: Call, context: RequestContext): Outcome | Promise<Outcome> {
    return answerStateful(call, context, answerChecked) ?? answerChecked(call, context.scope);
  }

  async function answerOnceStarted(call: Call, context: RequestContext): Promise<Outcome> {
    const { start, chain } = context.served;
    return (await start.start()) ? answerStarted(call, context) : { ok: false, error: unavailable(chain.slug) };
  }

  function answerCounted(
    request: ReadRequest,
    context: RequestContext,
    method: GatewayMethod | undefined,
    waitMs: number,
  ): Answered | Promise<Answered> {
    const { served, scope } = context;
    const { slug } = served.chain;
    if (waitMs > 0) return refused(context, 'rate-limited', RATE_LIMITED, waitMs);
    if ('error' in request) return { ...NOTHING_COUNTED, outcome: { ok: false, error: request.error } };
    if (method === undefined) return refused(context, 'unsupported', notSupported(request.method, slug));
    if (method.isTrace && options.offersTraces !== true)
      return refused(context, 'unsupported', tracesOff(method.name, slug));
    if (context.subscriber === null && SOCKET_METHODS.has(method.name))
      return refused(context, 'unsupported', needsSocket(method.name));
    const read = readParams(method, request.params);
    if ('error' in read) {
      metrics.refusals.inc({ chain: slug, reason: 'invalid-params' });
      return counted(usage, context, method, { ok: false, error: read.error }, 0);
    }
    const call: Call = { method, params: read.params };
    const isReady = served.start.isStarted || method.lifetime === 'constant';
    const outcome = isReady ? answerStarted(call, context) : answerOnceStarted(call, context);
    // A synchronous outcome takes too little time to measure.
    if (!(outcome instanceof Promise)) return counted(usage, context, method, outcome, 0);
    const startedAt = performance.now();
    return scope
      .withinTime(outcome, { ok: false, error: TIMED_OUT })
      .then((settled) => counted(usage, context, method, settled, performance.now() - startedAt));
  }

  return (request, context) => {
    const method = 'error' in request ? undefined : findMethod(request.method);
    const waited = rateLimits.take(context.keyId, method ?? NO_CALL);
    if (typeof waited === 'number') return answerCounted(request, context, method, waited);
    return waited.then((waitMs) => answerCounted(request, context, method, waitMs));
  };
}

/** If `answer` throws despite its contract, only this call gets an error. */
function createSafeAnswer({ answer, logger }: Pick<AnswerRequestOptions, 'answer' | 'logger'>): HandleCall {
  const failed = (thrown: unknown, { method }: Call, scope: RequestScope): Outcome => {
    const facts = { chain: scope.chain.slug, method: method.name, error: errorText(thrown) };
    logger.error(facts, 'Call of the gateway failed');
    return { ok: false, error: INTERNAL_ERROR };
  };
  return (call, scope) => {
    try {
      const outcome = answer(call, scope);
      return outcome instanceof Promise ? outcome.catch((error: unknown) => failed(error, call, scope)) : outcome;
    } catch (error) {
      return failed(error, call, scope);
    }
  };
}

function counted(
  usage: UsageCounter,
  { served, keyId }: RequestContext,
  method: MethodFacts,
  outcome: Outcome,
  ms: number,
): Answered {
  const { id } = served.chain.chain;
  const entry = usage.entry(keyId, id, method.countedAs);
  entry.calls += 1;
  entry.weight += method.weight;
  if (!outcome.ok) entry.errors += 1;
  if (outcome.ok && outcome.cached) entry.cached += 1;
  else countTime(entry.times, ms);
  return {
    outcome,
    refusal: null,
    retryAfterMs: 0,
    // Looked up again: a long response may end after the entry was written.
    addBytes: (bytes) => {
      usage.entry(keyId, id, method.countedAs).bytes += bytes;
    },
  };
}

/** An unknown method costs as much as the smallest call, since reading it takes time. */
const NO_CALL = { countedAs: '', weight: 1 };
const NOTHING_COUNTED = { refusal: null, retryAfterMs: 0, addBytes: ignore };

function ignore(): void {
  // A refusal has no result whose bytes would count.
}

/** Null: independent of earlier calls. `answer` handles a filter's eth_getLogs. */
type HandleStateful = (
  call: Call,
  context: RequestContext,
  answer: HandleCall,
) => Outcome | Promise<Outcome> | null;

const SOCKET_METHODS: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe']);

export function createAnswerStateful(filters: Filters, logger: Logger): HandleStateful {
  async function filterLogs(id: string, context: RequestContext, answer: HandleCall): Promise<Outcome> {
    const filter = await filters.logFilter(contextOf(context), id);
    const method = findMethod('eth_getLogs');
    if (filter === null || method === undefined) return { ok: false, error: FILTER_NOT_FOUND };
    return answer({ method, params: [filter] }, context.scope);
  }

  function outcomeOf(call: Call, context: RequestContext, answer: HandleCall): Outcome | Promise<Outcome> | null {
    const [first, second] = call.params;
    const owner = contextOf(context);
    switch (call.method.name) {
      case 'eth_subscribe':
        return context.subscriber?.subscribe(first, second) ?? null;
      case 'eth_unsubscribe':
        return context.subscriber?.unsubscribe(first) ?? null;
      case 'eth_newFilter':
        return filters.newLogFilter(owner, first);
      case 'eth_newBlockFilter':
        return filters.newBlockFilter(owner);
      case 'eth_newPendingTransactionFilter':
        return filters.newPendingFilter(owner);
      case 'eth_getFilterChanges':
        return filters.changes(owner, String(first));
      case 'eth_getFilterLogs':
        return filterLogs(String(first), context, answer);
      case 'eth_uninstallFilter':
        return filters.uninstall(owner, String(first));
      default:
        return null;
    }
  }

  return (call, context, answer) => {
    const outcome = outcomeOf(call, context, answer);
    if (!(outcome instanceof Promise)) return outcome;
    const { slug } = context.served.chain;
    return outcome.catch((error: unknown) => failedOutcome(error, { slug, method: call.method.name, logger }));
  };
}

function contextOf({ served, keyId }: RequestContext): FilterContext {
  return { chain: served.chain, keyId };
}
