import { SEND_METHOD, saysKnownTransaction } from './broadcast-transaction.ts';
import type { Reaction } from './error-rules.ts';
import { RpcCallError } from './errors.ts';
import type { Failover } from './failover.ts';
import { runNullable } from './nullable-operation.ts';
import { transactionHash } from './transaction-hash.ts';
import type { Answer, RequestOptions } from './upstream-pool.ts';

/** Sends any method to the best upstream. */
export type RequestForwarder = (
  method: string,
  params: readonly unknown[],
  options?: RequestOptions,
) => Promise<Answer<unknown>>;

/** Null may mean a lagging node here: another upstream is asked before it is passed on. */
const NULLABLE = /^eth_get(TransactionReceipt|TransactionByHash|BlockByNumber|BlockByHash|BlockReceipts)$/;
/** A contract may write the text of its error. */
const CONTRACTS_SPEAK = /^eth_(call|estimateGas|createAccessList|sendRawTransaction)$/;
const TRACES = /^(debug_traceBlock|debug_traceTransaction$|trace_block$|trace_transaction$|trace_replayBlock)/;
/** Limits that the call exceeds everywhere: asking again changes nothing. */
const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(['range', 'density', 'beyond-head', 'missing-data']);

/** Errors as {@link Failover.run}. */
export function createRequestForwarder(options: { readonly failover: Failover }): RequestForwarder {
  const { failover } = options;

  return async (method, params, given = {}) => {
    if (NULLABLE.test(method))
      return runNullable<unknown>(
        failover,
        {
          method,
          patience: 1,
          run: (upstream, signal) => upstream.call(method, params, { signal, timeoutMs: given.timeoutMs }),
        },
        given,
      );
    let sends = 0;
    return failover.run<unknown>(
      {
        method,
        settled: (faults) => faults.every((fault) => ABOUT_THE_CALL.has(fault.hints.reaction)),
        async run(upstream, signal) {
          sends++;
          try {
            const call = CONTRACTS_SPEAK.test(method) ? upstream.callForeign : upstream.call;
            const result = await call(method, params, { signal, timeoutMs: given.timeoutMs });
            if (TRACES.test(method)) checkTraces(method, result, (text) => upstream.fault('timeout', method, text));
            if (method.startsWith('debug_trace')) upstream.state.capabilities.traces = 'debug';
            else if (method.startsWith('trace_')) upstream.state.capabilities.traces ??= 'parity';
            return result;
          } catch (error) {
            // An earlier send whose answer was lost did arrive.
            const ownTransaction = method === SEND_METHOD && sends > 1 ? transactionHash(params[0]) : null;
            if (error instanceof RpcCallError && ownTransaction !== null && saysKnownTransaction(error.rpcMessage))
              return ownTransaction;
            throw error;
          }
        },
      },
      given,
    );
  };
}

/** Nodes answer traces that they gave up on as null, or as entries that say so inside a success. */
function checkTraces(method: string, result: unknown, fault: (text: string) => Error): void {
  if (result === null) throw fault(`${method} was answered with null`);
  if (!Array.isArray(result)) return;
  const gaveUp = result.some(
    (entry: unknown) =>
      typeof entry === 'object' && entry !== null && 'error' in entry && /execution timeout/i.test(String(entry.error)),
  );
  if (gaveUp) throw fault('execution timeout inside the result');
}
