import { blockInResult } from '../cache/call-key.ts';
import type { Call, HandleCall, RequestScope } from '../call.ts';
import { type LogBound, logRange } from '../methods/log-filter.ts';
import { findMethod } from '../methods/method-table.ts';
import { INTERNAL_ERROR, invalidParams, type RpcErrorObject } from '../protocol/rpc-errors.ts';

const NEWEST: ReadonlySet<LogBound> = new Set(['latest', 'pending']);
const HEAD_NUMBER = /^"(0x[0-9a-fA-F]+)"$/;

/** Null: valid. Synchronous if both bounds are numbers; a tag costs a lookup. */
export function checkLogRange(
  call: Call,
  scope: RequestScope,
  answer: HandleCall,
): RpcErrorObject | null | Promise<RpcErrorObject | null> {
  const range = logRange(call.params[0]);
  if (range === null) return null;
  const { from, to } = range;
  const { logRangeMax } = scope.chain;
  if (typeof from === 'number' && typeof to === 'number') return judge(from, to, logRangeMax);
  if (from === to || (NEWEST.has(from) && NEWEST.has(to))) return null;
  return judgeTags(from, to, scope, answer);
}

async function judgeTags(
  from: LogBound,
  to: LogBound,
  scope: RequestScope,
  answer: HandleCall,
): Promise<RpcErrorObject | null> {
  const [first, last] = await Promise.all([numberOf(from, scope, answer), numberOf(to, scope, answer)]);
  // A range of unknown length may be too long.
  if (typeof first !== 'number') return first;
  if (typeof last !== 'number') return last;
  // Nodes may be a block apart: if only a tag reverses the range, the node decides.
  return first > last ? null : judge(first, last, scope.chain.logRangeMax);
}

async function numberOf(
  bound: LogBound,
  scope: RequestScope,
  answer: HandleCall,
): Promise<number | RpcErrorObject> {
  if (typeof bound === 'number') return bound;
  const isNewest = NEWEST.has(bound);
  const requested = isNewest
    ? await ask('eth_blockNumber', [], scope, answer)
    : await ask('eth_getBlockByNumber', [bound, false], scope, answer);
  if (!Buffer.isBuffer(requested)) return requested;
  const digits = isNewest ? HEAD_NUMBER.exec(requested.toString())?.[1] : undefined;
  const number = isNewest ? (digits === undefined ? null : Number(digits)) : blockInResult(requested, 'number');
  return (
    number ?? invalidParams(`there is no ${bound} block on ${scope.chain.slug}: give the block by its number`)
  );
}

async function ask(
  name: string,
  params: readonly unknown[],
  scope: RequestScope,
  answer: HandleCall,
): Promise<Buffer | RpcErrorObject> {
  const method = findMethod(name);
  if (method === undefined) return INTERNAL_ERROR;
  const outcome = await answer({ method, params }, scope);
  if (!outcome.ok) return outcome.error;
  if (Buffer.isBuffer(outcome.result)) return outcome.result;
  // A long stream. Canceled, so that it does not occupy its upstream.
  await outcome.result[Symbol.asyncIterator]().return?.();
  return INTERNAL_ERROR;
}

function judge(from: number, to: number, logRangeMax: number): RpcErrorObject | null {
  if (from > to) return invalidParams('invalid block range params');
  const blocks = to - from + 1;
  if (blocks <= logRangeMax) return null;
  return invalidParams(`fromBlock to toBlock may span ${logRangeMax} blocks, it spans ${blocks}`);
}
