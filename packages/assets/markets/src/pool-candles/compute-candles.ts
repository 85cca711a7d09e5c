import { createHash } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { DEFAULT_HEARTBEAT_SECONDS, feedsOf } from '@chainstead/chains/price-feeds';
import { type Address, type BlockRange, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { fromDateBound } from '@chainstead/pages';
import { hasEtherQuotes } from '@chainstead/tokens/price-feeds/quotes';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { type AnchorBook, isPriceable, readAnchorBook } from '../anchors/anchor-steps.ts';
import { anchorsOf, nativeTokenOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { FiguredPool } from '../trade-values/candle.ts';
import { pairOf } from '../trade-values/price-trade.ts';
import { hourOf, joinTotals, type PoolCandle, type PoolSwap, totalsOf } from './candle-record.ts';
import { type PoolSwapsQuery, readPoolSwaps, swapsInRanges } from './read-pool-swaps.ts';

interface HourCandle extends PoolCandle {
  readonly pool: FiguredPool;
}

export async function computeCandles(
  database: ReadDatabase,
  chain: Chain,
  hour: number,
  blocks: BlockRange,
  pools: PoolSwapsQuery['pools'],
): Promise<readonly HourCandle[]> {
  const candles = new Map<PoolId, HourCandle>();
  const parts = await divideSwaps(
    database,
    chain,
    { pools, ranges: [blocks] },
    { part: SWAPS_PER_PART, max: null },
  );
  for (const range of parts ?? []) {
    const swapsOf = new Map<PoolId, readonly PoolSwap[]>();
    for (const [pool, swaps] of await readPoolSwaps(database, chain, { pools, ranges: [range] })) {
      const inHour = swaps.filter(({ time }) => hourOf(time) === hour);
      if (inHour.length > 0) swapsOf.set(pool, inHour);
    }
    if (swapsOf.size === 0) continue;
    const facts = await readPoolFacts(database, chain, [...swapsOf.keys()]);
    const book = await readBook(database, chain, facts, [...swapsOf.values()]);
    for (const pool of facts) {
      const own = totalsOf(pool, swapsOf.get(pool.pool) ?? [], chain, book);
      const earlier = candles.get(pool.pool);
      if (own === null) continue;
      const { isQuotedIn0 } = pairOf(pool.token0, pool.token1, chain);
      const totals = earlier === undefined ? own : joinTotals(earlier.totals, own);
      candles.set(pool.pool, { pool, isQuotedIn0, totals });
    }
  }
  return [...candles.values()];
}

export function readBook(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly FiguredPool[],
  swaps: readonly (readonly PoolSwap[])[],
): Promise<AnchorBook> {
  const blocks = new Map<number, PoolSwap>();
  for (const list of swaps) for (const swap of list) blocks.set(swap.block, swap);
  const tokens = pools.flatMap(({ token0, token1 }) => [token0, token1]);
  return readAnchorBook(database, chain, [...tokens, ZERO_ADDRESS], [...blocks.values()]);
}

/** Pool prices have no heartbeat: earlier ones may be indexed later. */
export function isUncertain({ pool, totals }: HourCandle, chain: Chain): boolean {
  if (priceDatasetOf(chain)?.name !== 'pool-prices') return false;
  const { figures, candles } = totals;
  const isValued = figures.buyVolume !== null && figures.sellVolume !== null;
  if (isValued && candles.usd.isPriced && candles.native.isPriced) return false;
  return [pool.token0, pool.token1].some((token) => isPriceable(chain, token));
}

export async function readPoolFacts(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolId[],
): Promise<readonly FiguredPool[]> {
  const proven = await database.select<{
    readonly pool: PoolId;
    readonly token0: Address;
    readonly token1: Address;
  }>(
    sql`SELECT ${hexText('pool')} AS pool, ${hexText('token0')} AS token0, ${hexText('token1')} AS token1 FROM pools
     WHERE pool_key = ANY (${pools.map(poolKey)}::bigint[]) AND chain_id = ${chain.id} AND pool = ANY (${pools.map(hexBytes)}::bytea[])
       AND status = 'proven' AND token0 IS NOT NULL AND token1 IS NOT NULL`,
  );
  const tokens = proven.flatMap(({ token0, token1 }) => [token0, token1]);
  const factsOf = await readTokenBook(database, chain, tokens, nativeTokenOf(chain));
  return proven.map((pool) => ({
    ...pool,
    decimals: [factsOf(pool.token0).decimals, factsOf(pool.token1).decimals],
  }));
}

export const SWAPS_PER_PART = 2_500;

/** Ascending, about `part` swaps each, without empty blocks. Null: more than `max` swaps. */
export async function divideSwaps(
  database: ReadDatabase,
  chain: Chain,
  query: PoolSwapsQuery,
  { part, max }: { readonly part: number; readonly max: number | null },
): Promise<readonly BlockRange[] | null> {
  if (query.ranges.length === 0 || query.pools.length === 0) return [];
  const { found } = swapsInRanges(chain, query, ['block_number']);
  const rows = await database.select<{ readonly from: number; readonly to: number; readonly swaps: number }>(
    sql`WITH found AS MATERIALIZED (${found}${max === null ? rawSql('') : sql` LIMIT ${max + 1}::bigint`})
SELECT min(block_number) AS "from", max(block_number) AS "to", sum(swaps)::float8 AS swaps FROM (
  SELECT block_number, swaps, floor((sum(swaps) OVER (ORDER BY block_number) - 1) / ${part}::int) AS number
  FROM (SELECT block_number, count(*) AS swaps FROM found GROUP BY block_number) AS counted) AS numbered
GROUP BY number ORDER BY number`,
  );
  const total = rows.reduce((sum, { swaps }) => sum + swaps, 0);
  return max !== null && total > max ? null : rows;
}

export interface BlockBoundary {
  readonly before: number | null;
  readonly at: number | null;
}

export async function readBoundary(database: ReadDatabase, chain: Chain, time: number): Promise<BlockBoundary> {
  const chainId = sql`${chain.id}::bigint`;
  const [row] = await database.select<{ readonly before: number | null; readonly at: number | null }>(
    sql`WITH ${fromDateBound(chainId, sql`to_timestamp(${time}::float8)`)}
SELECT known_block - 1 AS before,
  (SELECT block_number FROM blocks WHERE chain_id = ${chainId} AND block_number >= (SELECT block FROM from_date) ORDER BY block_number LIMIT 1) AS at
FROM from_date`,
  );
  return row ?? { before: null, at: null };
}

/** Raise it if equal swaps and prices produce other candles. */
const VERSION = 2;

export function priceSettingsOf(chain: Chain): string {
  const settings = [VERSION, anchorsOf(chain), chain.tokenFeeds, chain.etherPrice, chain.native];
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 32);
}

interface PriceDataset {
  readonly name: 'feed-answers' | 'pool-prices';
  /** Prices follow from no older answer. 0: the newest price counts, however old. */
  readonly heartbeatSeconds: number;
}

export function priceDatasetOf(chain: Chain): PriceDataset | null {
  const heartbeats = feedsOf(chain).map(({ heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS }) => heartbeatSeconds);
  if (heartbeats.length > 0) return { name: 'feed-answers', heartbeatSeconds: Math.max(...heartbeats) };
  return hasEtherQuotes(chain) ? { name: 'pool-prices', heartbeatSeconds: 0 } : null;
}
