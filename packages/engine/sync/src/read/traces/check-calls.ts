import type { Address } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { ExecutedTransaction, InternalTransaction } from '../../dataset/whole-block.ts';

export interface CheckableTransaction
  extends Pick<ExecutedTransaction, 'hash' | 'type' | 'from' | 'to' | 'value' | 'succeeded' | 'contractAddress'> {
  /** Absent: not compared. */
  readonly input?: ExecutedTransaction['input'];
}

/** Chains trace their own types, above Ethereum's, differently. */
const ETHEREUM_TYPE_MAX = 4;

/** Without gas: tracers count it differently. @throws MalformedAnswerError */
export function checkCalls(
  calls: readonly InternalTransaction[],
  transactions: readonly CheckableTransaction[],
): void {
  const outermost = calls.filter(({ traceAddress }) => traceAddress.length === 0);
  const roots = new Map(outermost.map((call) => [call.transactionHash, call]));
  for (const transaction of transactions) {
    if (transaction.type > ETHEREUM_TYPE_MAX) continue;
    const root = roots.get(transaction.hash);
    if (root === undefined) throw new MalformedAnswerError(`There is no trace of ${transaction.hash} itself`);
    // Invariant: PROOF-TRACES
    const wrong = contradiction(root, transaction);
    if (wrong !== null)
      throw new MalformedAnswerError(
        `The trace of ${transaction.hash} has another ${wrong} than the transaction`,
      );
  }
}

function contradiction(root: InternalTransaction, transaction: CheckableTransaction): string | null {
  const { from, to, value, input, succeeded, contractAddress } = transaction;
  if (root.from !== from) return 'sender';
  const recipient = to ?? contractAddress;
  if (recipient !== null && root.to !== null && root.to !== recipient) return 'recipient';
  if (root.value !== value) return 'value';
  if (input !== undefined && root.input.toLowerCase() !== input.toLowerCase()) return 'input';
  if (succeeded !== null && succeeded !== (root.error === null)) return 'outcome';
  return null;
}

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
