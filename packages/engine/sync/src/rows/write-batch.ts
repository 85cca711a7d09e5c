/** The only writer of decoded rows, in the transaction of coverage and checkpoint. */
import type { BlockRange, ChainId } from '@chainstead/core';
import { rawSql, sql, type Transaction } from '@chainstead/db';
import { BLOCK_COLUMNS, type DecodedBatch } from '../read/decoded-batch.ts';
import { type AddedRows, type Adding, addRows, gatherCopies, type WriteMode } from './row-changes.ts';
import { copyToStagingTable } from './staging-table.ts';

/** Disjoint ranges may be written concurrently, before the commit lock. */
export async function writeRows(
  transaction: Transaction,
  batch: DecodedBatch,
  mode: { readonly blocks: WriteMode | 'written'; readonly rows: WriteMode },
  { isFollowed }: Pick<Adding, 'isFollowed'> = {},
): Promise<AddedRows> {
  const copies = gatherCopies(transaction);
  if (mode.blocks === 'empty-range')
    await copies.add({ table: 'blocks', columns: BLOCK_COLUMNS, lines: batch.blockLines });
  else if (mode.blocks === 'may-exist') await writeBlocks(transaction, batch.blockLines);
  return addRows(transaction, batch.parts, mode.rows, {
    copies,
    ...(isFollowed === undefined ? {} : { isFollowed }),
  });
}

export async function hasBlocks(
  transaction: Transaction,
  { id }: { readonly id: ChainId },
  { from, to }: BlockRange,
): Promise<boolean> {
  const [stored] = await transaction.query<{ block: number }>(
    sql`SELECT block_number AS block FROM blocks WHERE chain_id = ${id} AND block_number BETWEEN ${from} AND ${to} LIMIT 1`,
  );
  return stored !== undefined;
}

/** The new row wins. Until the transaction ends, others that write these blocks wait. */
export async function writeBlocks(transaction: Transaction, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const staging = await copyToStagingTable(
    transaction,
    { name: 'blocks', columns: BLOCK_COLUMNS },
    'incoming',
    lines,
  );
  await transaction.query(sql`INSERT INTO blocks SELECT * FROM ${rawSql(staging)} ${UPDATE_CHANGED_BLOCK}`);
}

/** The new row wins, except that the known parent hash of the same block stays. */
const UPDATE_CHANGED_BLOCK = sql`ON CONFLICT (chain_id, block_number) DO UPDATE
  SET block_hash = excluded.block_hash, block_timestamp = excluded.block_timestamp,
      parent_hash = CASE WHEN blocks.block_hash = excluded.block_hash THEN coalesce(excluded.parent_hash, blocks.parent_hash) ELSE excluded.parent_hash END
  WHERE (blocks.block_hash, blocks.block_timestamp) <> (excluded.block_hash, excluded.block_timestamp)
     OR blocks.parent_hash IS NULL AND excluded.parent_hash IS NOT NULL`;
