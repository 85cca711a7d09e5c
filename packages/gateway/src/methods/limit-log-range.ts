import type { AnswerCall, Call, RequestScope, RpcErrorObject } from '../call.ts';
import { findMethod } from '../method-table.ts';
import { invalidParams } from '../protocol/rpc-errors.ts';
import { type LogBound, logRange } from './log-filter.ts';

const HEAD_NUMBER = /^"(0x[0-9a-fA-F]+)"$/;

/**
 * What is wrong with the range of an eth_getLogs call (−32602, geth's texts where it has one); null: nothing. At once where
 * both sides are numbers; a tag beside a number costs a look at the head.
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
  // Two tags: nodes refuse `latest` to `earliest`, and everything else but safe or finalized to latest is one block.
  if (typeof from === 'string' && typeof to === 'string') return null;
  return judgeAgainstHead(from, to, scope, answer);
}

async function judgeAgainstHead(
  from: LogBound,
  to: LogBound,
  scope: RequestScope,
  answer: AnswerCall,
): Promise<RpcErrorObject | null> {
  const head = await readHead(scope, answer);
  // Without a head no upstream answers, and the call itself will tell.
  if (head === null) return null;
  const first = typeof from === 'number' ? from : head;
  const last = typeof to === 'number' ? to : head;
  // Nodes may be a block apart: what only the head makes wrong is theirs to judge.
  return first > last ? null : judge(first, last, scope.chain.logRangeMax);
}

async function readHead(scope: RequestScope, answer: AnswerCall): Promise<number | null> {
  const method = findMethod('eth_blockNumber');
  if (method === undefined) return null;
  const outcome = await answer({ method, params: [] }, scope);
  if (!outcome.ok || !Buffer.isBuffer(outcome.result)) return null;
  const digits = HEAD_NUMBER.exec(outcome.result.toString())?.[1];
  return digits === undefined ? null : Number(digits);
}

function judge(from: number, to: number, logRangeMax: number): RpcErrorObject | null {
  if (from > to) return invalidParams('invalid block range params');
  const blocks = to - from + 1;
  if (blocks <= logRangeMax) return null;
  return invalidParams(`fromBlock to toBlock may span ${logRangeMax} blocks, it spans ${blocks}`);
}
