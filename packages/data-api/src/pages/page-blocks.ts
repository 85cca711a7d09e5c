import type { Hash } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import { hex, int8, moment, packedRows, type RowOf } from '@chainstead/db/packed-rows';
import type { ChainInSql } from '../coverage/block-span.ts';
import { InconsistentPageError } from './inconsistent-page.ts';

export type PageBlock = RowOf<typeof BLOCKS>;

const BLOCKS = packedRows({
  block_number: int8('block_number'),
  block_hash: hex<Hash>('block_hash', 32),
  block_timestamp: moment('block_timestamp'),
});

/**
 * Returns the blocks that {@link readBlocks} reads, found in one go: looked up row by row they cost several times as much. Null for none.
 *
 * Look-ups of tokens, collections and labels by a page's rows stand next to it in one CTE. Blocks lie on the coordinator of a cluster alone,
 * so it runs there as a whole. Separately, they might run on any node with these tables: Citus would send the rows to all, and fail if one is away.
 * @param blocks a query for their numbers
 */
export function blocksOf(blocks: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT packed_bytes FROM (SELECT ${BLOCKS.select} FROM blocks WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(${blocks}))) AS found)`;
}

/**
 * Finds the block of a row.
 * @param rows all of the page, each of which is to have its block
 * @throws {InconsistentPageError} when one has none
 */
export function readBlocks(
  packed: string | null,
  rows: readonly { readonly block_number: number }[],
): (row: { readonly block_number: number }) => PageBlock {
  const found = BLOCKS.read({ packed_bytes: packed, packed_texts: null, packed_json: null }) ?? [];
  const blocks = new Map(found.map((block) => [block.block_number, block]));
  const blockOf = ({ block_number: number }: { readonly block_number: number }): PageBlock => {
    const block = blocks.get(number);
    if (block === undefined) throw new InconsistentPageError(number);
    return block;
  };
  for (const row of rows) blockOf(row);
  return blockOf;
}
