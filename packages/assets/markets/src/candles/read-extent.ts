import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { type Indexed, type IndexedColumns, pageRange, readIndexed } from '@chainstead/pages';
import type { PoolId } from '../events/pool-event.ts';
import { type StoredColumns, storedCandlesSql } from '../pool-candles/read-stored-spans.ts';
import { type StoredWidth, wholeSpans } from '../pool-candles/stored-span.ts';
import { SWAPS_DATASET } from '../swap-lists/swaps-page.ts';
import { type CoveredBlocks, coveredBlocks } from '../swaps/covered-blocks.ts';
import type { TimeSpan } from '../trade-values/figured-pool.ts';
import { type DateBounds, poolSwapsSql, type SwapsColumns, type SwapsPart, swapsPart } from './read-swaps.ts';

/** Hours since the epoch; equal if none is stored. */
interface StoredBounds {
  readonly first: number;
  readonly end: number;
}

export interface CandlesExtent {
  readonly indexed: Indexed;
  readonly stored: Readonly<Record<StoredWidth, StoredBounds>>;
  readonly covered: CoveredBlocks;
  readonly newest: NewestRows;
}

/** The newest rows of the pool, of the same snapshot: most pages need no others. */
type NewestRows =
  | { readonly of: 'swaps'; readonly part: SwapsPart }
  | { readonly of: 'candles'; readonly hours: StoredWidth; readonly first: number; readonly row: StoredColumns };

export interface ExtentQuery {
  readonly pool: PoolId;
  readonly times: TimeSpan;
  readonly bounds: DateBounds;
  /** Width of stored candles; null: the page is made from swaps. */
  readonly width: StoredWidth | null;
  /** Swaps, or spans of stored candles. */
  readonly limit: number;
}

export async function readExtent(
  database: ReadDatabase,
  chain: Chain,
  { pool, times, bounds, width, limit }: ExtentQuery,
): Promise<CandlesExtent> {
  const chainId = sql`${chain.id}::bigint`;
  const page = { ...bounds, fromBlock: null, toBlock: null };
  const { ctes, complete } = pageRange(chain, chainId, SWAPS_DATASET, page, null);
  const ofWidth = (hours: StoredWidth): Sql =>
    sql`(SELECT ARRAY[min(start), max(start) + ${rawSql(hours)}] FROM candle_spans WHERE chain_id = ${chainId} AND hours = ${rawSql(hours)})`;
  const { first, end } = wholeSpans(width ?? 1, times.from, times.to);
  const spans = { hours: width ?? 1, first: Math.max(first, end - limit * (width ?? 1)), end };
  const lastBlock = sql`coalesce(${bounds.pinnedBlock}::bigint, (SELECT indexed_to FROM covered))`;
  const swaps = poolSwapsSql(chain, { pool, bounds, after: null, limit });
  const rows =
    width === null
      ? { ctes: [swaps.found], columns: swaps.columns }
      : storedCandlesSql(chain, { ...spans, pool, lastBlock });
  const [row] = await database.select<
    IndexedColumns &
      Record<'hours' | 'days', BoundsColumn> & { readonly swaps: readonly BlockRange[] | null } & SwapsColumns &
      StoredColumns
  >(
    sql`WITH ${joinSql([...ctes, ...rows.ctes])}
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${ofWidth(1)} AS hours, ${ofWidth(24)} AS days,
  (SELECT json_agg(json_build_object('from', first_block, 'to', last_block) ORDER BY first_block) FROM ranges) AS swaps,
  ${rows.columns}
FROM covered`,
  );
  const stored = { 1: boundsOf(row?.hours), 24: boundsOf(row?.days) };
  return {
    ...{ indexed: readIndexed(row), stored, covered: coveredBlocks(row?.swaps ?? []) },
    newest:
      width === null ? { of: 'swaps', part: swapsPart(row) } : { of: 'candles', ...spans, row: row ?? NO_ROW },
  };
}

const NO_ROW: StoredColumns = { stored: null, stale: null, candles: null };

type BoundsColumn = readonly (number | null)[];

function boundsOf([first, end]: BoundsColumn = []): StoredBounds {
  return { first: first ?? 0, end: end ?? 0 };
}
