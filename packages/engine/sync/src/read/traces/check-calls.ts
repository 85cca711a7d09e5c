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
