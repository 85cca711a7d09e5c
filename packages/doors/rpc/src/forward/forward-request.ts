import { isObject, ZERO_ADDRESS } from '@chainstead/core';
import { isDoubtful, type Reaction, RpcCallError, UpstreamFault } from '../errors.ts';
import type { Failover } from '../failover/failover.ts';
import { runNullable } from '../failover/nullable-operation.ts';
import { transactionHash } from '../formats/standard-form.ts';
import type { ForwardingPool, RawCall, RawResult } from '../forwarding-pool.ts';
import type { HeadProbe } from '../heads/probe-head.ts';
import { EXECUTES } from '../transport/error-rules.ts';
import { asVerdict, Doubts } from '../upstream/doubts.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';
import { SEND_METHOD, saysKnownTransaction } from './broadcast-transaction.ts';
import { type Begun, fitness, forwardVerified, highest, isNull, reached } from './verified-forward.ts';

/** Null may mean a lagging node: another upstream is tried. */
const NULLABLE = /^eth_get(TransactionReceipt|TransactionByHash|BlockByNumber|BlockByHash|BlockReceipts)$/;
/** A contract may write their error text. */
const CONTRACTS_SPEAK = /^eth_(call|estimateGas|createAccessList|sendRawTransaction)$/;
const TRACES = /^(debug_traceBlock|debug_traceTransaction$|trace_block$|trace_transaction$|trace_replayBlock)/;
const CONTROL_CALL = { to: ZERO_ADDRESS, data: '0x' };
const LIMITS = ['range', 'density', 'batch-size', 'beyond-head', 'missing-data'] as const;
const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(LIMITS);

export function createRequestForwarder({ failover }: { readonly failover: Failover }): ForwardingPool['request'] {
  return async (method, params, given = {}) => {
    if (!NULLABLE.test(method)) return forwardOwn(failover, method, params, given);
    const run = (upstream: Upstream, signal: AbortSignal | undefined): Promise<unknown> =>
      upstream.call(method, params, { signal, timeoutMs: given.timeoutMs });
    return runNullable<unknown>(failover, { method, patience: 1, run }, given);
  };
}

async function forwardOwn(
  failover: Failover,
  method: string,
  params: readonly unknown[],
  given: RequestOptions,
): Promise<Answer<unknown>> {
  const doubts = new Doubts();
  let sends = 0;
  let isControlled = false;
  const settled = (faults: readonly UpstreamFault[]) =>
    faults.every((fault) => ABOUT_THE_CALL.has(fault.hints.reaction));
  try {
    return await failover.run<unknown>({ method, settled, run: attempt }, given);
  } finally {
    doubts.count();
  }

  async function attempt(upstream: Upstream, signal: AbortSignal | undefined): Promise<unknown> {
    sends++;
    try {
      const call = CONTRACTS_SPEAK.test(method) ? upstream.callForeign : upstream.call;
      const result = await call(method, params, { signal, timeoutMs: given.timeoutMs });
      if (TRACES.test(method)) checkTraces(method, result, (text) => upstream.fault('timeout', method, text));
      if (method.startsWith('debug_trace')) upstream.state.capabilities.traces = 'debug';
      else if (method.startsWith('trace_')) upstream.state.capabilities.traces ??= 'parity';
      return result;
    } catch (error) {
      // An earlier send arrived; its response was lost.
      const ownTransaction = method === SEND_METHOD && sends > 1 ? transactionHash(params[0]) : null;
      if (error instanceof RpcCallError && ownTransaction !== null && saysKnownTransaction(error.rpcMessage))
        return ownTransaction;
      if (!isDoubtful(error) || !CONTRACTS_SPEAK.test(method)) throw error;
      doubts.add(upstream, error);
      throw (await verdictOn(error, upstream, signal)) ?? error;
    }
  }

  /** An unknown error that came twice is the contract's if a control call works at that block. */
  async function verdictOn(fault: UpstreamFault, upstream: Upstream, signal: AbortSignal | undefined) {
    if (!EXECUTES.test(method) || doubts.size < 2 || isControlled) return null;
    isControlled = true;
    try {
      const block = params.slice(1, 2);
      await upstream.callForeign('eth_call', [CONTROL_CALL, ...block], {
        signal,
        timeoutMs: given.timeoutMs,
      });
    } catch (error) {
      if (error instanceof UpstreamFault || error instanceof RpcCallError) return null;
      throw error;
    }
    doubts.clear();
    return asVerdict(fault, 'execution');
  }
}

/** Abandoned traces give null or error entries in a successful response. */
function checkTraces(method: string, result: unknown, fault: (text: string) => Error): void {
  if (result === null) throw fault(`${method} was answered with null`);
  if (!Array.isArray(result)) return;
  const gaveUp = result.some(
    (entry: unknown) => isObject(entry) && /execution timeout/i.test(String(entry.error)),
  );
  if (gaveUp) throw fault('execution timeout inside the result');
}

const NEAR_MS = 2_000;

/** State for further upstreams is prepared only if the first fails. */
export function createCallForwarder(options: {
  readonly failover: Failover;
  readonly upstreams: readonly Upstream[];
  readonly probe: HeadProbe;
  readonly blockTimeMs: number;
  readonly bestHead: () => number | null;
  readonly broadcast: ForwardingPool['broadcast'];
}): ForwardingPool['forward'] {
  const { failover, upstreams, probe, bestHead, broadcast } = options;
  const isAlone = upstreams.length < 2;
  const nearBlocks = Math.max(1, Math.ceil(NEAR_MS / options.blockTimeMs));
  const tools = { failover, probe, bestHead, isAlone, nearBlocks };
  const forwardWithCare = (call: RawCall, given: RequestOptions, first?: Begun): Promise<Answer<RawResult>> =>
    forwardVerified(tools, call, given, first);

  return async (call, given = {}) => {
    const { method, nullable } = call;
    // Invariant: GATEWAY-WRITE-ONCE
    if (method === SEND_METHOD) {
      // Independent of the client: no upstream must get it twice.
      const sent = await broadcast(String(JSON.parse(call.params)[0]), given);
      return { ...sent, value: Buffer.from(`"${sent.value}"`) };
    }
    if (given.hedge === true && !isAlone) return forwardWithCare(call, given);
    const needed = isAlone ? null : highest(given.minBlock ?? null, call.block);
    const upstream = failover.choose({ method, fitness: fitness(tools, needed) }, given);
    if (upstream === undefined || (needed !== null && reached(upstream) < needed))
      return forwardWithCare(call, given);
    let value: RawResult;
    try {
      value = await upstream.forward(call, { signal: given.signal, timeoutMs: given.timeoutMs });
    } catch (error) {
      return forwardWithCare(call, given, { upstream, error });
    }
    if (nullable && !isAlone && isNull(value)) return forwardWithCare(call, given, { upstream, error: null });
    return { value, upstream: upstream.name };
  };
}
