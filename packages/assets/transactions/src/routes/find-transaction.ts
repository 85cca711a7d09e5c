import type { Chain } from '@chainstead/chains';
import { type Hash, parseHash } from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import { readPackedPage } from '@chainstead/db/packed-rows';
import { NotFoundError, textParameter } from '@chainstead/http';
import { InconsistentPageError, readConsistentPage } from '@chainstead/pages';
import { logs } from '../contract-logs/dataset.ts';
import { readCoveredBlock } from '../indexed/block-coverage.ts';
import { readStoredLogs } from '../indexed/stored-logs.ts';
import { readInternalTransactions } from '../internal-transactions.ts';
import type { OnDemandReads, TracingRequest } from '../on-demand-reads.ts';
import { type FoundTransaction, transactionKind } from '../reading/transaction-reader.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import { transactions } from '../stored/datasets.ts';
import { readStored, STORED_COLUMNS, type StoredTransaction } from '../stored/stored-transaction.ts';
import { transactionKey } from '../stored/transaction-key.ts';

export interface SourcedTransaction extends FoundTransaction {
  readonly source: 'indexed' | 'node';
}

/** From the index if complete, else a node. @throws NotFoundError, as {@link OnDemandReads.read} */
export async function findTransaction(
  reads: ReadDatabase,
  { onDemandReads, chain, requester }: TracingRequest,
  hash: string,
): Promise<SourcedTransaction> {
  const stored = await findStoredTransaction(reads, chain, parseHash(hash));
  if (stored !== null) return { ...stored, source: 'indexed' };
  const { found } = await onDemandReads.read({
    chain,
    kind: transactionKind,
    question: { hash },
    isLasting: (answer) => answer.found?.finalized === true,
    requester,
  });
  if (found === null) throw new NotFoundError('Transaction not found');
  return { ...found, source: 'node' };
}

/** Null: no node provides traces. @throws as {@link OnDemandReads.read} */
export async function internalOf(reading: TracingRequest, found: FoundTransaction) {
  const traced = await readInternalTransactions(reading, [found]);
  return traced?.get(found.transaction.hash) ?? null;
}

const HASH = 'a transaction hash (0x and 64 hexadecimal digits)';

export const hashParameter = textParameter(HASH, (text) =>
  /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined,
).openapi({
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{64}$',
  example: '0x012b9b98e21664117ec0b499d726a39f492ac8bd402cca8bebcbd163b9f75760',
});

/** Null: part is not stored. @throws {InconsistentPageError} if replaced repeatedly meanwhile */
async function findStoredTransaction(
  database: ReadDatabase,
  chain: Chain,
  hash: Hash,
): Promise<FoundTransaction | null> {
  if (chain.transactions.mode !== 'all' || chain.logs !== 'all') return null;
  return readConsistentPage(() => readOnce(database, chain, hash));
}

async function readOnce(database: ReadDatabase, chain: Chain, hash: Hash): Promise<FoundTransaction | null> {
  const stored = await readRow(database, chain, hash);
  // Responses need calldata and a verified sender, else a node is read.
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

/** Separate reads are consistent if transaction and block are unchanged. */
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
