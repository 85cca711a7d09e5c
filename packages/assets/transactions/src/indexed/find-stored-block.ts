import type { Chain } from '@chainstead/chains';
import { type ReadDatabase, sql } from '@chainstead/db';
import { readPackedPage } from '@chainstead/db/packed-rows';
import { InconsistentPageError, readConsistentPage } from '@chainstead/pages';
import { logs } from '../contract-logs/dataset.ts';
import { blockHeaders } from '../headers/dataset.ts';
import { readStoredHeader } from '../headers/stored-header.ts';
import type { BlockPlace } from '../reading/block-place.ts';
import type { FoundBlock } from '../reading/block-reader.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import { transactions } from '../stored/datasets.ts';
import { readStored, STORED_COLUMNS, type StoredTransaction } from '../stored/stored-transaction.ts';
import { readCoveredBlock } from './block-coverage.ts';
import { findCoveredBlock } from './find-covered-block.ts';
import { readStoredLogs, type StoredLog } from './stored-logs.ts';

/** Null: part is not stored. @throws {InconsistentPageError} if replaced repeatedly meanwhile */
export async function findStoredBlock(database: ReadDatabase, chain: Chain, at: BlockPlace) {
  if (chain.transactions.mode !== 'all' || chain.logs !== 'all') return null;
  return readConsistentPage(() => readOnce(database, chain, at));
}

async function readOnce(database: ReadDatabase, chain: Chain, at: BlockPlace): Promise<FoundBlock | null> {
  const block = await findCoveredBlock(database, chain, at, DATASETS);
  if (block === null) return null;
  const [header, stored, ofLogs] = await Promise.all([
    readStoredHeader(database, chain, block),
    readTransactions(database, chain, block.number),
    readStoredLogs(database, chain, { block: block.number }),
  ]);
  // Separate reads are consistent if the block is still the same, and complete.
  const again = await readCoveredBlock(database, chain, block.number, DATASETS);
  if (again?.hash !== block.hash) throw new InconsistentPageError(block.number);
  const records = recordsOf(stored, ofLogs);
  if (header === null || records?.length !== header.transactionCount) return null;
  return { block: header.record, transactions: records, proof: again.proof, finalized: again.finalized };
}

const DATASETS = [transactions.name, logs.name, blockHeaders.name];

async function readTransactions(database: ReadDatabase, { id }: Chain, block: number) {
  const { rows } = await readPackedPage(
    database,
    STORED_COLUMNS,
    (select) =>
      sql`WITH found AS MATERIALIZED (SELECT * FROM transactions WHERE chain_id = ${id} AND block_number = ${block}::int) SELECT ${select} FROM ${STORED_COLUMNS.fitting('found')}`,
  );
  return rows.map(readStored).toSorted((left, right) => left.record.index - right.record.index);
}

/** Null: one lacks calldata, or has an unverified sender. */
function recordsOf(stored: readonly StoredTransaction[], ofLogs: readonly StoredLog[]): TransactionRecord[] | null {
  const byTransaction = Map.groupBy(ofLogs, ({ transactionHash }) => transactionHash);
  const records = stored.flatMap(({ record, input, isSenderRecovered }) => {
    if (input === null || !isSenderRecovered) return [];
    return { ...record, input, logs: (byTransaction.get(record.hash) ?? []).map((log) => log.record) };
  });
  return records.length === stored.length ? records : null;
}
