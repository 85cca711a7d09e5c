import { MalformedAnswerError } from '@chainstead/rpc';
import type { ExecutedTransaction, InternalTransaction } from '../whole-block.ts';

/** What traces of a transaction are compared with. */
export interface CheckableTransaction
  extends Pick<ExecutedTransaction, 'hash' | 'type' | 'from' | 'to' | 'value' | 'succeeded' | 'contractAddress'> {
  /** Absent: not compared. */
  readonly input?: ExecutedTransaction['input'];
}

/** Of Ethereum itself; chains trace types of their own in their own ways. */
const ETHEREUM_TYPE_MAX = 4;

/**
 * Compares traces with the proven transactions: no header commits to traces, but each begins with the transaction itself. Sender,
 * recipient, value, input and whether it failed have to be the same. Gas is not compared: tracers count the outermost call's in several ways.
 * @throws MalformedAnswerError for traces that are of other transactions than they say
 */
export function checkCalls(calls: readonly InternalTransaction[], transactions: readonly CheckableTransaction[]): void {
  const roots = new Map(
    calls.filter(({ traceAddress }) => traceAddress.length === 0).map((one) => [one.transactionHash, one]),
  );
  for (const transaction of transactions) {
    if (transaction.type > ETHEREUM_TYPE_MAX) continue;
    const root = roots.get(transaction.hash);
    if (root === undefined) throw new MalformedAnswerError(`There is no trace of ${transaction.hash} itself`);
    const wrong = contradiction(root, transaction);
    if (wrong !== null)
      throw new MalformedAnswerError(`The trace of ${transaction.hash} has another ${wrong} than the transaction`);
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
