import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { InconsistentPageError, readConsistentPage } from '@chainstead/data-api';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import { readPackedPage } from '@chainstead/db/packed-rows';
import { logs } from '../contract-logs/dataset.ts';
import type { FoundTransaction } from '../reading/transaction-reader.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import { transactions } from '../stored/datasets.ts';
import { readStored, STORED_COLUMNS, type StoredTransaction } from '../stored/stored-transaction.ts';
import { transactionKey } from '../stored/transaction-key.ts';
import { readCoveredBlock } from './block-coverage.ts';
import { readStoredLogs } from './stored-logs.ts';

/** Null: part is not stored. @throws {InconsistentPageError} if it is replaced repeatedly during the read */
export async function findStoredTransaction(
  database: ReadDatabase,
  chain: Chain,
  hash: Hash,
): Promise<FoundTransaction | null> {
  if (chain.transactions.mode !== 'all' || chain.logs !== 'all') return null;
  return readConsistentPage(() => readOnce(database, chain, hash));
}

async function readOnce(database: ReadDatabase, chain: Chain, hash: Hash): Promise<FoundTransaction | null> {
  const stored = await readRow(database, chain, hash);
  // Transactions without stored calldata, or with an unverified sender, are read from a node: responses need both.
  if (stored === null || stored.input === null || !stored.isSenderRecovered) return null;
  const block = await readCoveredBlock(database, chain, stored.blockNumber, DATASETS);
  if (block === null) return null;
  const transaction = { ...stored.record, input: stored.input, logs: await readLogs(database, chain, stored) };
  if (!block.finalized) await requireSame(database, chain, { stored, block: block.hash });
  const { proof, finalized, number, timestamp } = block;
  return { block: { number, hash: block.hash, timestamp }, transaction, proof, finalized };
}

const DATASETS = [transactions.name, logs.name];

async function readRow(database: ReadDatabase, chain: Chain, hash: Hash): Promise<StoredTransaction | null> {
  const { rows } = await readPackedPage(
    database,
    STORED_COLUMNS,
    (select) =>
      sql`WITH found AS MATERIALIZED (SELECT * FROM transactions WHERE transaction_key = ${transactionKey(hash)}::bigint AND transaction_hash = ${hexBytes(hash)} AND chain_id = ${chain.id}
      ORDER BY block_number DESC LIMIT 1) SELECT ${select} FROM ${STORED_COLUMNS.fitting('found')}`,
  );
  const [row] = rows;
  return row === undefined ? null : readStored(row);
}

async function readLogs(
  database: ReadDatabase,
  chain: Chain,
  { blockNumber, record: { hash, index } }: StoredTransaction,
): Promise<TransactionRecord['logs']> {
  const logs = await readStoredLogs(database, chain, { block: blockNumber, transaction: index });
  if (logs.some(({ transactionHash }) => transactionHash !== hash)) throw new InconsistentPageError(blockNumber);
  return logs.map(({ record }) => record);
}

/** Separate reads are consistent if neither the transaction nor its block has changed since. */
async function requireSame(
  database: ReadDatabase,
  chain: Chain,
  { stored, block }: { readonly stored: StoredTransaction; readonly block: Hash },
): Promise<void> {
  const [again, blockAgain] = await Promise.all([
    readRow(database, chain, stored.record.hash),
    readCoveredBlock(database, chain, stored.blockNumber, DATASETS),
  ]);
  if (blockAgain?.hash !== block || JSON.stringify(again) !== JSON.stringify(stored))
    throw new InconsistentPageError(stored.blockNumber);
}
