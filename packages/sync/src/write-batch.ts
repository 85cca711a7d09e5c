/**
 * The one place that writes decoded rows. Always inside the caller's transaction, together with coverage and checkpoint.
 */
import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { advisoryKey, type Transaction, transactionLock } from '@chainstead/db';
import type { Dataset } from './dataset.ts';
import { BLOCK_COLUMNS, type DecodedBatch } from './decoded-batch.ts';

/** How rows meet what is already there. */
export type WriteMode =
  /** The range is known to be empty: straight COPY; a conflict is an error. */
  | 'empty-range'
  /** Rows may be there already: staging table and ON CONFLICT DO NOTHING. */
  | 'may-exist';

/** One committer per chain: taken first in each transaction that writes a chain's rows; held until it ends. */
export async function lockChainCommits(transaction: Transaction, chain: Chain): Promise<void> {
  await transactionLock(transaction, advisoryKey('chainstead:commit', chain.id));
}

/** Writes block rows and dataset rows. Ranges that don't overlap may be written side by side, before the commit lock. */
export async function writeRows(
  transaction: Transaction,
  batch: DecodedBatch,
  mode: { readonly blocks: WriteMode; readonly rows: WriteMode },
): Promise<void> {
  if (batch.blockLines.length > 0)
    await writeLines(transaction, 'blocks', BLOCK_COLUMNS, batch.blockLines, mode.blocks);
  for (const { dataset, lines } of batch.datasets)
    if (lines.length > 0) await writeLines(transaction, dataset.table, dataset.columns, lines, mode.rows);
}

/**
 * Writes token contracts that are new to this process. Under the commit lock: two writers of the same contract would wait
 * for each other otherwise. @returns those written, to be remembered once the transaction has committed.
 */
export async function writeContracts(
  transaction: Transaction,
  chain: Chain,
  batch: DecodedBatch,
  known: KnownContracts,
): Promise<readonly string[]> {
  const fresh = batch.contracts.filter((address) => !known.has(address));
  if (fresh.length === 0) return fresh;
  await transaction.query(
    `INSERT INTO tokens (address, chain_id) SELECT decode(substr(a, 3), 'hex'), $1 FROM unnest($2::text[]) AS a
     ON CONFLICT DO NOTHING`,
    [chain.id, fresh],
  );
  return fresh;
}

/** Removes the rows of the datasets in a range of blocks. */
export async function deleteRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  range: BlockRange,
): Promise<void> {
  for (const dataset of datasets)
    await transaction.query(`DELETE FROM ${dataset.table} WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3`, [
      chain.id,
      range.from,
      range.to,
    ]);
}

/** Token contracts that this process has committed already, so that busy ones cost nothing. */
export interface KnownContracts {
  has(address: string): boolean;
  add(addresses: readonly string[]): void;
}

/** Remembers the newest `limit` additions, forgetting all at once when full: a miss only costs one insert. */
export function createKnownContracts(limit = 200_000): KnownContracts {
  const known = new Set<string>();
  return {
    has: (address) => known.has(address),
    add: (addresses) => {
      if (known.size >= limit) known.clear();
      for (const address of addresses) known.add(address);
    },
  };
}

async function writeLines(
  transaction: Transaction,
  table: string,
  columns: readonly string[],
  lines: readonly string[],
  mode: WriteMode,
): Promise<void> {
  if (mode === 'empty-range') {
    await transaction.copy(table, columns, lines);
    return;
  }
  const staging = await copyToStaging(transaction, table, columns, lines);
  const conflict = table === 'blocks' ? UPDATE_CHANGED_BLOCK : 'ON CONFLICT DO NOTHING';
  await transaction.query(`INSERT INTO ${table} SELECT * FROM ${staging} ${conflict}`);
}

/** A backfilled block that was read again: the newest reading counts, and a known parent is not forgotten. */
const UPDATE_CHANGED_BLOCK = `ON CONFLICT (chain_id, block_number) DO UPDATE
  SET block_hash = excluded.block_hash, block_timestamp = excluded.block_timestamp,
      parent_hash = coalesce(excluded.parent_hash, blocks.parent_hash)
  WHERE (blocks.block_hash, blocks.block_timestamp) <> (excluded.block_hash, excluded.block_timestamp)
     OR blocks.parent_hash IS NULL AND excluded.parent_hash IS NOT NULL`;

/** Copies lines to a temporary twin of the table, empty at the start of every transaction. @returns its name. */
export async function copyToStaging(
  transaction: Transaction,
  table: string,
  columns: readonly string[],
  lines: readonly string[],
): Promise<string> {
  const staging = `staging_${table}`;
  const [existing] = await transaction.query(
    'SELECT 1 AS found FROM pg_class WHERE relname = $1 AND relnamespace = pg_my_temp_schema()',
    [staging],
  );
  if (existing === undefined)
    await transaction.query(`CREATE TEMP TABLE ${staging} (LIKE ${table}) ON COMMIT DELETE ROWS`);
  await transaction.copy(staging, columns, lines);
  return staging;
}
