import type { Address } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';

/** They run another account's code as the caller. */
const BORROWING: ReadonlySet<string> = new Set(['DELEGATECALL', 'CALLCODE']);

/**
 * Value leaves only the account whose code runs (or borrowed code). Callers come first.
 * @throws MalformedAnswerError if a call pays from another account or has no caller
 */
export function checkPayers(calls: readonly InternalTransaction[]): void {
  const running = new Map<string, Address | null>();
  for (const { transactionHash, traceAddress, type, from, to, value, isReverted } of calls) {
    running.set(placeOf(transactionHash, traceAddress), BORROWING.has(type) ? from : to);
    if (traceAddress.length === 0) continue;
    const payer = running.get(placeOf(transactionHash, traceAddress.slice(0, -1)));
    if (payer === undefined)
      throw new MalformedAnswerError(`No frame makes the call ${traceAddress.join('.')} of ${transactionHash}`);
    if (value > 0n && !isReverted && payer !== from)
      throw new MalformedAnswerError(
        `The call ${traceAddress.join('.')} of ${transactionHash} pays from ${from}, but the code of ${payer} runs`,
      );
  }
}

function placeOf(transactionHash: string, traceAddress: readonly number[]): string {
  return `${transactionHash}/${traceAddress.join('/')}`;
}
