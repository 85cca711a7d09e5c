import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { type Indexed, type IndexedColumns, pageRange, readIndexed } from '@chainstead/pages';
import type { PoolId } from '../events/pool-event.ts';
import { type StoredWidth, wholeSpans } from '../pool-candles/candle-record.ts';
import { type StoredColumns, storedCandlesSql } from '../pool-candles/read-stored-spans.ts';
import { SWAPS_DATASET } from '../swap-lists/swaps-page.ts';
import { type CoveredBlocks, coveredBlocks } from '../swaps/dataset.ts';
import type { TimeSpan } from '../trade-values/candle.ts';
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
  | {
      readonly of: 'candles';
      readonly hours: StoredWidth;
      readonly first: number;
      readonly row: StoredColumns | undefined;
    };

export interface ExtentQuery {
  readonly pool: PoolId;
  readonly times: TimeSpan;
  readonly bounds: DateBounds;
  /** Width of stored candles; null: the page is made from swaps. */
  readonly width: StoredWidth | null;
  /** Swaps, or spans of stored candles. */
  readonly limit: number;
}

export function readExtent(database: ReadDatabase, chain: Chain, query: ExtentQuery): Promise<CandlesExtent> {
  const { width } = query;
  return width === null
    ? readWith<ExtentColumns & SwapsColumns>(database, chain, query, newestSwaps(chain, query))
    : readWith<ExtentColumns & StoredColumns>(database, chain, query, newestCandles(chain, query, width));
}

/** The newest rows in the statement of the extent. */
interface NewestPart<Columns> {
  readonly ctes: readonly Sql[];
  readonly columns: Sql;
  readonly read: (row: Columns | undefined) => NewestRows;
}

export function newestSwaps(
  chain: Chain,
  { pool, bounds, limit }: Omit<ExtentQuery, 'times' | 'width'>,
): NewestPart<SwapsColumns> {
  const { found, columns } = poolSwapsSql(chain, { pool, bounds, after: null, limit });
  return { ctes: [found], columns, read: (row) => ({ of: 'swaps', part: swapsPart(row) }) };
}

export function newestCandles(
  chain: Chain,
  { pool, times, bounds, limit }: Omit<ExtentQuery, 'width'>,
  hours: StoredWidth,
): NewestPart<StoredColumns> {
  const whole = wholeSpans(hours, times.from, times.to);
  const spans = { hours, first: Math.max(whole.first, whole.end - limit * hours) };
  const lastBlock = sql`coalesce(${bounds.pinnedBlock}::bigint, (SELECT indexed_to FROM covered))`;
  const statement = storedCandlesSql(chain, { ...spans, end: whole.end, pool, lastBlock });
  return { ...statement, read: (row) => ({ of: 'candles', ...spans, row }) };
}

export function extentStatement(
  chain: Chain,
  bounds: DateBounds,
  newest: Pick<NewestPart<never>, 'ctes' | 'columns'>,
): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const page = { ...bounds, fromBlock: null, toBlock: null };
  const { ctes, complete } = pageRange(chain, chainId, SWAPS_DATASET, page, null);
  const outermost = (hours: StoredWidth, order: 'ASC' | 'DESC') =>
    sql`(SELECT start FROM candle_spans WHERE chain_id = ${chainId} AND hours = ${rawSql(hours)} ORDER BY start ${rawSql(order)} LIMIT 1)`;
  // Without fresh statistics, the planner reads all spans for min and max.
  const ofWidth = (hours: StoredWidth) =>
    sql`ARRAY[${outermost(hours, 'ASC')}, ${outermost(hours, 'DESC')} + ${rawSql(hours)}]`;
  return sql`WITH ${joinSql([...ctes, ...newest.ctes])}
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${ofWidth(1)} AS hours, ${ofWidth(24)} AS days,
  (SELECT json_agg(json_build_object('from', first_block, 'to', last_block) ORDER BY first_block) FROM ranges) AS swaps,
  ${newest.columns}
FROM covered`;
}

type ExtentColumns = IndexedColumns &
  Record<'hours' | 'days', BoundsColumn> & { readonly swaps: readonly BlockRange[] | null };

async function readWith<Row extends ExtentColumns>(
  database: ReadDatabase,
  chain: Chain,
  { bounds }: ExtentQuery,
  newest: NewestPart<Row>,
): Promise<CandlesExtent> {
  const [row] = await database.select<Row>(extentStatement(chain, bounds, newest));
  return {
    indexed: readIndexed(row),
    stored: { 1: boundsOf(row?.hours), 24: boundsOf(row?.days) },
    covered: coveredBlocks(row?.swaps ?? []),
    newest: newest.read(row),
  };
}

type BoundsColumn = readonly (number | null)[];

function boundsOf([first, end]: BoundsColumn = []): StoredBounds {
  return { first: first ?? 0, end: end ?? 0 };
}
