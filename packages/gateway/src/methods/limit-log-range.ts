import { blockInResult } from '../cache/block-in-result.ts';
import type { AnswerCall, Call, RequestScope, RpcErrorObject } from '../call.ts';
import { findMethod } from '../method-table.ts';
import { INTERNAL_ERROR, invalidParams } from '../protocol/rpc-errors.ts';
import { type LogBound, logRange } from './log-filter.ts';

/** Tags of the newest blocks, at most one apart. */
const NEWEST: ReadonlySet<LogBound> = new Set(['latest', 'pending']);
const HEAD_NUMBER = /^"(0x[0-9a-fA-F]+)"$/;

/**
 * What is wrong with the range of an eth_getLogs call (−32602, geth's texts where it has one); null: nothing. At once where
 * both sides are numbers; a tag beside something else costs a look at its block.
 */
export function checkLogRange(
  call: Call,
  scope: RequestScope,
  answer: AnswerCall,
): RpcErrorObject | null | Promise<RpcErrorObject | null> {
  const range = logRange(call.params[0]);
  if (range === null) return null;
  const { from, to } = range;
  const { logRangeMax } = scope.chain;
  if (typeof from === 'number' && typeof to === 'number') return judge(from, to, logRangeMax);
  // One block, or one beside the other.
  if (from === to || (NEWEST.has(from) && NEWEST.has(to))) return null;
  return judgeTags(from, to, scope, answer);
}

async function judgeTags(
  from: LogBound,
  to: LogBound,
  scope: RequestScope,
  answer: AnswerCall,
): Promise<RpcErrorObject | null> {
  const [first, last] = await Promise.all([numberOf(from, scope, answer), numberOf(to, scope, answer)]);
  // A range that can't be measured may be any length.
  if (typeof first !== 'number') return first;
  if (typeof last !== 'number') return last;
  // Nodes may be a block apart: what only a tag makes wrong is theirs to judge.
  return first > last ? null : judge(first, last, scope.chain.logRangeMax);
}

/** The block of a side, or why it is not known. */
async function numberOf(bound: LogBound, scope: RequestScope, answer: AnswerCall): Promise<number | RpcErrorObject> {
  if (typeof bound === 'number') return bound;
  const isNewest = NEWEST.has(bound);
  const asked = isNewest
    ? await ask('eth_blockNumber', [], scope, answer)
    : await ask('eth_getBlockByNumber', [bound, false], scope, answer);
  if (!Buffer.isBuffer(asked)) return asked;
  const digits = isNewest ? HEAD_NUMBER.exec(asked.toString())?.[1] : undefined;
  const number = isNewest ? (digits === undefined ? null : Number(digits)) : blockInResult(asked, 'number');
  return number ?? invalidParams(`there is no ${bound} block on ${scope.chain.slug}: give the block by its number`);
}

async function ask(
  name: string,
  params: readonly unknown[],
  scope: RequestScope,
  answer: AnswerCall,
): Promise<Buffer | RpcErrorObject> {
  const method = findMethod(name);
  if (method === undefined) return INTERNAL_ERROR;
  const outcome = await answer({ method, params }, scope);
  if (!outcome.ok) return outcome.error;
  if (Buffer.isBuffer(outcome.result)) return outcome.result;
  // Too long to come in one piece: given up, so that it does not hold its upstream.
  await outcome.result[Symbol.asyncIterator]().return?.();
  return INTERNAL_ERROR;
}

function judge(from: number, to: number, logRangeMax: number): RpcErrorObject | null {
  if (from > to) return invalidParams('invalid block range params');
  const blocks = to - from + 1;
  if (blocks <= logRangeMax) return null;
  return invalidParams(`fromBlock to toBlock may span ${logRangeMax} blocks, it spans ${blocks}`);
}
