import type { PageBlock } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Hash, Hex } from '@chainstead/core';
import type { LookUps } from '../look-ups.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import type { StoredTransaction } from '../stored/stored-transaction.ts';
import { transactionInputsKind } from './transaction-inputs-reader.ts';
import { transactionLogsKind } from './transaction-logs-reader.ts';

/** A page of which something is not kept. */
interface PartlyKept {
  readonly transactions: readonly StoredTransaction[];
  blockOf(transaction: StoredTransaction): PageBlock;
}

/** What has the rest read. */
interface Reading {
  readonly lookUps: LookUps;
  readonly chain: Chain;
  readonly requester: string;
}

/** What is read of a block by its hash, or of a transaction by its own, holds for good. */
const isLasting = (): boolean => true;

/** The calldata of transactions of which it is not kept, read from a node all at once. @throws as {@link LookUps} */
export async function readInputs(
  { lookUps, chain, requester }: Reading,
  { transactions }: PartlyKept,
): Promise<(transaction: StoredTransaction) => Hex> {
  const hashes = transactions.flatMap(({ input, record }) => (input === null ? [record.hash] : [])).sort();
  const inputs = new Map<Hash, Hex>();
  if (hashes.length > 0) {
    const question = { hashes };
    const answer = await lookUps.read({ chain, kind: transactionInputsKind, question, isLasting, requester });
    for (const [place, hash] of hashes.entries()) inputs.set(hash, answer.inputs[place] ?? '0x');
  }
  return ({ input, record }) => input ?? inputs.get(record.hash) ?? '0x';
}

/** The logs of transactions, of which those that are not kept are read from a node by block. @param kept by transaction @throws as {@link LookUps} */
export async function readLogs(
  { lookUps, chain, requester }: Reading,
  { transactions, blockOf }: PartlyKept,
  kept: ReadonlyMap<Hash, TransactionRecord['logs']>,
): Promise<(transaction: StoredTransaction) => TransactionRecord['logs']> {
  const logs = new Map(kept);
  const missing = transactions.filter(({ record }) => !logs.has(record.hash));
  const asked = [...Map.groupBy(missing, (one) => blockOf(one).block_hash)].map(([block, ofBlock]) => ({
    block,
    transactions: ofBlock
      .toSorted((one, other) => one.record.index - other.record.index)
      .map(({ record }) => record.hash),
  }));
  const answers = await lookUps.readAll(
    asked.map((question) => ({ chain, kind: transactionLogsKind, question, isLasting, requester })),
  );
  for (const [at, { transactions: hashes }] of asked.entries())
    for (const [place, hash] of hashes.entries()) logs.set(hash, answers[at]?.logs[place] ?? []);
  return ({ record }) => logs.get(record.hash) ?? [];
}
