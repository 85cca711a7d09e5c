import type { Chain } from '@chainstead/chains';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';
import { SWAPS_DATASET } from '../swap-lists/swaps-page.ts';

/** Ascending. Other blocks may have swaps of requested wallets, which figures leave out. */
export async function readCoveredBlocks(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
): Promise<CoveredBlocks> {
  const rows = await database.select<BlockRange>(
    sql`SELECT first_block AS from, last_block AS to FROM sync_ranges WHERE chain_id = ${id} AND dataset = ${SWAPS_DATASET} ORDER BY first_block`,
  );
  return coveredBlocks(rows);
}

export function coveredBlocks(rows: readonly BlockRange[]): CoveredBlocks {
  const ranges = mergeRanges(rows);
  return { ranges, has: (block) => isIn(ranges, block) };
}

export interface CoveredBlocks {
  readonly ranges: readonly BlockRange[];
  has(block: number): boolean;
}

function isIn(ranges: readonly BlockRange[], block: number): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined || block < range.from) high = middle - 1;
    else if (block > range.to) low = middle + 1;
    else return true;
  }
  return false;
}
