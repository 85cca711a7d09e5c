import type { Hash, Hex } from '@chainstead/core';
import type { PageBlock } from '@chainstead/pages';
import type { TracingRequest } from '../on-demand-reads.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import type { StoredTransaction } from '../stored/stored-transaction.ts';
import { transactionInputsKind } from './transaction-inputs-reader.ts';
import { transactionLogsKind } from './transaction-logs-reader.ts';

interface StoredPage {
  readonly transactions: readonly StoredTransaction[];
  blockOf(transaction: StoredTransaction): PageBlock;
}

/** Data of a block hash or transaction hash is permanent. */
const isLasting = (): boolean => true;

export async function readInputs(
  { onDemandReads, chain, requester }: TracingRequest,
  { transactions }: StoredPage,
): Promise<(transaction: StoredTransaction) => Hex> {
  const hashes = transactions.flatMap(({ input, record }) => (input === null ? [record.hash] : [])).sort();
  const inputs = new Map<Hash, Hex>();
  if (hashes.length > 0) {
    const question = { hashes };
    const answer = await onDemandReads.read({ chain, kind: transactionInputsKind, question, isLasting, requester });
    for (const [index, hash] of hashes.entries()) inputs.set(hash, answer.inputs[index] ?? '0x');
  }
  return ({ input, record }) => input ?? inputs.get(record.hash) ?? '0x';
}

/** Others than `kept` are read by block. @throws as {@link OnDemandReads} */
export async function readLogs(
  { onDemandReads, chain, requester }: TracingRequest,
  { transactions, blockOf }: StoredPage,
  kept: ReadonlyMap<Hash, TransactionRecord['logs']>,
): Promise<(transaction: StoredTransaction) => TransactionRecord['logs']> {
  const logs = new Map(kept);
  const missing = transactions.filter(({ record }) => !logs.has(record.hash));
  const byBlock = Map.groupBy(missing, (transaction) => blockOf(transaction).block_hash);
  const questions = Array.from(byBlock, ([block, ofBlock]) => {
    const sorted = ofBlock.toSorted((left, right) => left.record.index - right.record.index);
    return { block, transactions: sorted.map(({ record }) => record.hash) };
  });
  const answers = await onDemandReads.readAll(
    questions.map((question) => ({ chain, kind: transactionLogsKind, question, isLasting, requester })),
  );
  for (const [at, { transactions: hashes }] of questions.entries())
    for (const [index, hash] of hashes.entries()) logs.set(hash, answers[at]?.logs[index] ?? []);
  return ({ record }) => logs.get(record.hash) ?? [];
}
