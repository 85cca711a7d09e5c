import { type Clock, defineError, type Hash, systemClock } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import { hex, int8, moment, packedRows, type RowOf } from '@chainstead/db/packed-rows';
import type { ChainInSql } from '../coverage/block-span.ts';

export type PageBlock = RowOf<typeof BLOCKS>;

const BLOCKS = packedRows({
  block_number: int8('block_number'),
  block_hash: hex<Hash>('block_hash', 32),
  block_timestamp: moment('block_timestamp'),
});

/** All blocks at once: row by row they cost several times as much. */
export function blocksOf(blocks: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT packed_bytes FROM (SELECT ${BLOCKS.select} FROM blocks WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(${blocks}))) AS found)`;
}

export function readBlocks(
  packed: string | null,
  rows: readonly { readonly block_number: number }[],
): (row: { readonly block_number: number }) => PageBlock {
  const found = BLOCKS.read({ packedBytes: packed, packedTexts: null, packedJson: null }) ?? [];
  const blocks = new Map(found.map((block) => [block.block_number, block]));
  const blockOf = ({ block_number: number }: { readonly block_number: number }): PageBlock => {
    const block = blocks.get(number);
    // Invariant: PAGE-ONE-SNAPSHOT
    if (block === undefined) throw new InconsistentPageError(number);
    return block;
  };
  for (const row of rows) blockOf(row);
  return blockOf;
}

/** Servers of a cluster return their parts at different moments. Rows and blocks may be of two branches. */
export class InconsistentPageError extends defineError('PAGE_INCONSISTENT', (blockNumber: number) => ({
  message: `Block ${blockNumber} of a row is missing: the page was read while its blocks were being replaced`,
  facts: { blockNumber },
  remedy: 'Retry. If this persists, run `chainstead reindex` for this block',
  retryable: true,
})) {}

const WAITS_MS: readonly number[] = [10, 40, 150];

export async function readConsistentPage<Page>(
  read: () => Promise<Page>,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<Page> {
  for (const wait of WAITS_MS)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof InconsistentPageError)) throw error;
      await clock.sleep(wait);
    }
  return read();
}
