import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, nearestNumber } from '@chainstead/core';
import { addressBytes, expectedTrue, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { formsOf, NO_TRADES, type PoolId, type TradeSums, undecidedPoolsOf } from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import { type ReadPoolValues, readPoolValues } from '../../pool-values/read-pool-values.ts';
import { type PricePlace, readPlace } from '../../token-price/place/price-place.ts';
import { type PriceSources, readNativePrice } from '../../token-price/read/prices-with-balances.ts';
import {
  areSwapsIndexed,
  DAY_SECONDS,
  IS_LISTED,
  type ListedColumns,
  POOL_COLUMNS,
  placeBefore,
  readFiguresIfSummed,
  type StoredPool,
  spanBefore,
  withTokens,
} from '../pools/stored-pools.ts';

export interface RankedPool {
  readonly pool: StoredPool;
  readonly values: ReadPoolValues;
}

interface RankedPools {
  readonly pools: readonly RankedPool[];
  readonly place: PricePlace | null;
  /** 24 hours earlier; null: not indexed. */
  readonly dayBefore: PricePlace | null;
  readonly indexed: Indexed;
}

interface PairPosition {
  readonly liquidity: number | null;
  readonly pool: string;
}

export interface ListedPair extends RankedPool {
  readonly before: ReadPoolValues | null;
  readonly trades: TradeSums;
}

/** Deepest first, then the lower id; unknown ones last. `block` null: the newest indexed one. */
export async function rankPools(
  sources: PriceSources,
  chain: Chain,
  token: Address,
  block: number | null,
): Promise<RankedPools> {
  const { reads } = sources;
  const moment = block === null ? ({ of: 'newest' } as const) : ({ of: 'block', block } as const);
  const { place, indexed } = await readPlace(reads, chain, moment, chain.pricing.windowSeconds);
  if (place === null) return { pools: [], place, dayBefore: null, indexed: { ...indexed, complete: false } };
  const { pools, isWhole } = await readPoolsOfToken(reads, chain, token, place.block);
  const values = await readPoolValues(sources, chain, pools, place);
  const ranked = pools.flatMap((pool): RankedPool[] => {
    const own = values.get(pool.pool);
    return own === undefined ? [] : [{ pool, values: own }];
  });
  const dayBefore = await placeBefore(reads, chain, place, DAY_SECONDS);
  const isIndexed = indexed.complete && (await areSwapsIndexed(reads, chain, dayBefore, place));
  const complete = isIndexed && isWhole && ranked.every((pool) => pool.values.isFinal);
  const sorted = ranked.toSorted((left, right) => comparePairs(positionOf(left), positionOf(right)));
  return { pools: sorted, place, dayBefore, indexed: { ...indexed, complete } };
}

export function positionOf({ pool, values: { liquidity } }: RankedPool): PairPosition {
  return { liquidity: liquidity === null ? null : nearestNumber(liquidity), pool: pool.pool };
}

export function comparePairs(left: PairPosition, right: PairPosition): number {
  const byLiquidity = (right.liquidity ?? -1) - (left.liquidity ?? -1);
  if (byLiquidity !== 0 || left.pool === right.pool) return byLiquidity;
  return left.pool < right.pool ? -1 : 1;
}

export async function readListedPairs(
  sources: PriceSources,
  chain: Chain,
  pools: readonly RankedPool[],
  { place, dayBefore }: Pick<RankedPools, 'place' | 'dayBefore'>,
): Promise<{ readonly rows: readonly ListedPair[]; readonly native: Fraction | null }> {
  if (place === null || pools.length === 0) return { rows: [], native: null };
  const stored = pools.map(({ pool }) => pool);
  const [trades, before, native] = await Promise.all([
    readFiguresIfSummed(sources, chain, {
      groups: stored.map((pool) => ({ key: pool.pool, pools: [{ pool, isReversed: false }] })),
      spans: [spanBefore(place, DAY_SECONDS)],
      ...{ lastBlock: place.block, time: place.time, isAligned: false, countsTraders: false },
    }),
    dayBefore === null
      ? new Map<PoolId, ReadPoolValues>()
      : readPoolValues({ ...sources, contracts: null }, chain, stored, dayBefore),
    readNativePrice(sources, chain, place),
  ]);
  const rows = pools.map((one) => ({
    ...one,
    before: before.get(one.pool.pool) ?? null,
    trades: trades === null ? NOT_SUMMED : (trades.get(one.pool.pool)?.[0] ?? NO_TRADES),
  }));
  return { rows, native };
}

const NOT_SUMMED: TradeSums = { ...NO_TRADES, buyVolume: null, sellVolume: null };

interface PoolBounds {
  /** A token with more pools has only those with the newest trades. */
  readonly poolsMax: number;
  readonly tradesMax: number;
}

/** Anyone may create pools. */
const POOL_BOUNDS: PoolBounds = { poolsMax: 500, tradesMax: 10_000 };

/** By id. `isWhole`: no pool is left out, or waits for its proof. Later trades don't count. */
export async function readPoolsOfToken(
  database: ReadDatabase,
  chain: Chain,
  token: Address,
  lastBlock: number,
  bounds = POOL_BOUNDS,
): Promise<{ readonly pools: readonly StoredPool[]; readonly isWhole: boolean }> {
  const rows = await database.select<ListedColumns>(poolsStatement(chain, token, bounds.poolsMax + 1));
  const chainId = sql`${chain.id}::bigint`;
  if (rows.length <= bounds.poolsMax) {
    const pools = await withTokens(database, chain, sorted(rows));
    // Reads all pools of the token, so it has to have few.
    const undecided = undecidedPoolsOf(token, chain, chainId);
    const [waiting] = await database.select(sql`SELECT FROM (${undecided}) AS undecided LIMIT 1`);
    return { pools, isWhole: waiting === undefined };
  }
  const active = await database.select<{ readonly key: string }>(
    activeStatement(chain, token, lastBlock, bounds),
  );
  const forms = sql`${formsOf(token, chain).map(addressBytes)}::bytea[]`;
  const listed = await database.select<ListedColumns>(
    sql`SELECT ${POOL_COLUMNS} FROM pools WHERE pool_key = ANY (${active.map(({ key }) => key)}::bigint[]) AND chain_id = ${chainId} AND ${IS_LISTED}
      AND (token0 = ANY (${forms}) OR token1 = ANY (${forms}))`,
  );
  return { pools: await withTokens(database, chain, sorted(listed)), isWhole: false };
}

/** The limit is part of the text: plans of any limit read too much. */
export function poolsStatement(chain: Chain, token: Address, limit: number): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const ranges = formsOf(token, chain).flatMap((form) =>
    SIDES.map(
      (side) => sql`(SELECT ${POOL_COLUMNS} FROM pools WHERE address_key(${side}) = ${addressKey(form)}::bigint
        AND chain_id = ${chainId} AND status = 'proven' AND ${expectedTrue(sql`${IS_LISTED} AND ${side} = ${addressBytes(form)}::bytea`)}
        LIMIT ${rawSql(limit)})`,
    ),
  );
  return joinSql(ranges, ' UNION ALL ');
}

export function activeStatement(
  chain: Chain,
  token: Address,
  lastBlock: number,
  { poolsMax, tradesMax }: PoolBounds,
) {
  const chainId = sql`${chain.id}::bigint`;
  const last = sql`${lastBlock}::bigint`;
  const ranges = formsOf(token, chain).flatMap((form) =>
    SIDES.map((side) => {
      const ofSide = sql`${side}_key = ${addressKey(form)}::bigint AND chain_id = ${chainId}`;
      return sql`(SELECT pool_key, block_number FROM trades WHERE ${ofSide} AND block_number <= ${last}
        ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT ${rawSql(tradesMax)})`;
    }),
  );
  return sql`WITH traded AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')})
SELECT pool_key::text AS key FROM traded GROUP BY pool_key ORDER BY max(block_number) DESC, traded.pool_key LIMIT ${rawSql(poolsMax)}`;
}

const SIDES = [sql`token0`, sql`token1`];

function sorted(rows: readonly ListedColumns[]): readonly ListedColumns[] {
  const unique = [...new Map(rows.map((row) => [row.pool, row])).values()];
  return unique.toSorted((left, right) => (left.pool < right.pool ? -1 : 1));
}
