import type { Address } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { InternalTransaction } from '../whole-block.ts';

/** These run the code of another account as if it were the caller's own. */
const BORROWING: ReadonlySet<string> = new Set(['DELEGATECALL', 'CALLCODE']);

/**
 * Looks at who pays: value leaves only the account whose code runs, which is the one that the call above went to, or that borrowed code there. So no
 * coin comes from nowhere, though nothing proves traces.
 * @param calls of whole transactions, the outermost ones included, each before those that it makes
 * @throws MalformedAnswerError for a call that pays from another account, or that nobody made
 */
export function checkPayers(calls: readonly InternalTransaction[]): void {
  const running = new Map<string, Address | null>();
  for (const { transactionHash, traceAddress, type, from, to, value, isReverted } of calls) {
    running.set(placeOf(transactionHash, traceAddress), BORROWING.has(type) ? from : to);
    if (traceAddress.length === 0) continue;
    const payer = running.get(placeOf(transactionHash, traceAddress.slice(0, -1)));
    if (payer === undefined)
      throw new MalformedAnswerError(`Nobody makes the call ${traceAddress.join('.')} of ${transactionHash}`);
    if (value > 0n && !isReverted && payer !== from)
      throw new MalformedAnswerError(
        `The call ${traceAddress.join('.')} of ${transactionHash} pays from ${from}, but the code of ${payer} runs`,
      );
  }
}

function placeOf(transactionHash: string, traceAddress: readonly number[]): string {
  return `${transactionHash}/${traceAddress.join('/')}`;
}
