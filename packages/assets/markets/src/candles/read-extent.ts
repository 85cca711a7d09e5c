import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { type Indexed, type IndexedColumns, pageRange, readIndexed } from '@chainstead/pages';
import type { StoredWidth } from '../pool-candles/stored-span.ts';
import { SWAPS_DATASET } from '../swap-lists/swaps-page.ts';
import { type CoveredBlocks, coveredBlocks } from '../swaps/covered-blocks.ts';
import type { DateBounds } from './read-swaps.ts';

/** Hours since the epoch; equal if none is stored. */
interface StoredBounds {
  readonly first: number;
  readonly end: number;
}

export interface CandlesExtent {
  readonly indexed: Indexed;
  readonly stored: Readonly<Record<StoredWidth, StoredBounds>>;
  readonly covered: CoveredBlocks;
}

export async function readExtent(
  database: ReadDatabase,
  chain: Chain,
  bounds: DateBounds,
): Promise<CandlesExtent> {
  const chainId = sql`${chain.id}::bigint`;
  const page = { ...bounds, fromBlock: null, toBlock: null };
  const { ctes, complete } = pageRange(chain, chainId, SWAPS_DATASET, page, null);
  const ofWidth = (hours: StoredWidth): Sql =>
    sql`(SELECT ARRAY[min(start), max(start) + ${rawSql(hours)}] FROM candle_spans WHERE chain_id = ${chainId} AND hours = ${rawSql(hours)})`;
  const [row] = await database.select<
    IndexedColumns & Record<'hours' | 'days', BoundsColumn> & { readonly swaps: readonly BlockRange[] | null }
  >(
    sql`WITH ${joinSql(ctes)}
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${ofWidth(1)} AS hours, ${ofWidth(24)} AS days,
  (SELECT json_agg(json_build_object('from', first_block, 'to', last_block) ORDER BY first_block) FROM ranges) AS swaps
FROM covered`,
  );
  const stored = { 1: boundsOf(row?.hours), 24: boundsOf(row?.days) };
  return { indexed: readIndexed(row), stored, covered: coveredBlocks(row?.swaps ?? []) };
}

type BoundsColumn = readonly (number | null)[];

function boundsOf([first, end]: BoundsColumn = []): StoredBounds {
  return { first: first ?? 0, end: end ?? 0 };
}
