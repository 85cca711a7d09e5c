import type { Chain } from '@chainstead/chains';
import type { Hash, Hex } from '@chainstead/core';
import type { PageBlock } from '@chainstead/data-api';
import type { OnDemandReads } from '../on-demand-reads.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import type { StoredTransaction } from '../stored/stored-transaction.ts';
import { transactionInputsKind } from './transaction-inputs-reader.ts';
import { transactionLogsKind } from './transaction-logs-reader.ts';

/** A page with some data missing in the database. */
interface PartlyKept {
  readonly transactions: readonly StoredTransaction[];
  blockOf(transaction: StoredTransaction): PageBlock;
}

/** Reads the missing data. */
interface Reading {
  readonly onDemandReads: OnDemandReads;
  readonly chain: Chain;
  readonly requester: string;
}

/** Data read by a block hash or transaction hash is permanent. */
const isLasting = (): boolean => true;

/**
 * Returns the calldata of transactions that is not stored, read from a node in one batch.
 * @throws as {@link OnDemandReads}
 */
export async function readInputs(
  { onDemandReads, chain, requester }: Reading,
  { transactions }: PartlyKept,
): Promise<(transaction: StoredTransaction) => Hex> {
  const hashes = transactions.flatMap(({ input, record }) => (input === null ? [record.hash] : [])).sort();
  const inputs = new Map<Hash, Hex>();
  if (hashes.length > 0) {
    const question = { hashes };
    const answer = await onDemandReads.read({ chain, kind: transactionInputsKind, question, isLasting, requester });
    for (const [place, hash] of hashes.entries()) inputs.set(hash, answer.inputs[place] ?? '0x');
  }
  return ({ input, record }) => input ?? inputs.get(record.hash) ?? '0x';
}

/**
 * Returns the logs of transactions; those that are not stored are read from a node by block.
 * @param kept by transaction
 * @throws as {@link OnDemandReads}
 */
export async function readLogs(
  { onDemandReads, chain, requester }: Reading,
  { transactions, blockOf }: PartlyKept,
  kept: ReadonlyMap<Hash, TransactionRecord['logs']>,
): Promise<(transaction: StoredTransaction) => TransactionRecord['logs']> {
  const logs = new Map(kept);
  const missing = transactions.filter(({ record }) => !logs.has(record.hash));
  const requested = [...Map.groupBy(missing, (one) => blockOf(one).block_hash)].map(([block, ofBlock]) => ({
    block,
    transactions: ofBlock
      .toSorted((one, other) => one.record.index - other.record.index)
      .map(({ record }) => record.hash),
  }));
  const answers = await onDemandReads.readAll(
    requested.map((question) => ({ chain, kind: transactionLogsKind, question, isLasting, requester })),
  );
  for (const [at, { transactions: hashes }] of requested.entries())
    for (const [place, hash] of hashes.entries()) logs.set(hash, answers[at]?.logs[place] ?? []);
  return ({ record }) => logs.get(record.hash) ?? [];
}
