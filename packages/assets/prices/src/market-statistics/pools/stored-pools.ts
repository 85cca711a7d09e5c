import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import {
  nativeTokenOf,
  type PoolId,
  pairOf,
  poolKey,
  type SharedFiguresQuery,
  SWAPS_DATASET,
  SwapsNotSummedError,
  sumTradeFigures,
  type TimeSpan,
} from '@chainstead/markets/requests';
import { readBlockRuns } from '@chainstead/pages';
import { readTokenBook, type TokenFacts } from '@chainstead/tokens/token-book';
import type { ValuedPool } from '../../pool-values/read-pool-values.ts';
import { type PricePlace, readPlace } from '../../token-price/place/price-place.ts';
import type { PriceSources } from '../../token-price/read/prices-with-balances.ts';

export interface StoredPool extends ValuedPool {
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly base: TokenFacts;
  readonly quote: TokenFacts;
  readonly baseSide: 0 | 1;
  readonly tokens: readonly [TokenFacts, TokenFacts];
}

export const POOL_COLUMNS = sql`${joinSql(['pool', 'factory', 'token0', 'token1'].map((column) => sql`${hexText(column)} AS ${rawSql(column)}`))},
  exchange, is_stable, tick_spacing`;

export const IS_LISTED = sql`status = 'proven' AND is_counted AND token0 IS NOT NULL AND token1 IS NOT NULL`;

export type ListedColumns = Pick<
  StoredPool,
  'pool' | 'factory' | 'token0' | 'token1' | 'exchange' | 'isStable' | 'tickSpacing'
>;

export async function readStoredPool(
  database: ReadDatabase,
  chain: Chain,
  pool: PoolId,
): Promise<StoredPool | null> {
  const rows = await database.select<ListedColumns>(
    sql`SELECT ${POOL_COLUMNS} FROM pools WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chain.id}::bigint
       AND pool = ${hexBytes(pool)}::bytea AND ${IS_LISTED}`,
  );
  const [stored = null] = await withTokens(database, chain, rows);
  return stored;
}

export async function withTokens(
  database: ReadDatabase,
  chain: Chain,
  rows: readonly ListedColumns[],
): Promise<readonly StoredPool[]> {
  if (rows.length === 0) return [];
  const addresses = rows.flatMap(({ token0, token1 }) => [token0, token1]);
  const tokenOf = await readTokenBook(database, chain, addresses, nativeTokenOf(chain));
  return rows.map((pool) => {
    const tokens = [tokenOf(pool.token0), tokenOf(pool.token1)] as const;
    const baseSide = pairOf(pool.token0, pool.token1, chain).isQuotedIn0 ? 1 : 0;
    return {
      ...{ ...pool, tokens, decimals: [tokens[0].decimals, tokens[1].decimals] },
      ...{ base: tokens[baseSide], quote: tokens[baseSide === 0 ? 1 : 0], baseSide },
    };
  });
}

export const DAY_SECONDS = 86_400;

/** The last block that is at least so much older. Null: not indexed. */
export async function placeBefore(database: ReadDatabase, chain: Chain, { time }: PricePlace, seconds: number) {
  const moment = { of: 'time', time: time - seconds } as const;
  return (await readPlace(database, chain, moment, chain.pricing.windowSeconds)).place;
}

export function spanBefore({ time }: PricePlace, seconds: number): TimeSpan {
  return { from: time - seconds + 1, to: time + 1 };
}

/** `before` null: the window starts before the first indexed block. */
export async function areSwapsIndexed(
  database: ReadDatabase,
  chain: Chain,
  before: PricePlace | null,
  { block }: PricePlace,
): Promise<boolean> {
  const run = (await readBlockRuns(database, chain.id, [SWAPS_DATASET], block)).get(SWAPS_DATASET);
  return run !== undefined && run.firstBlock <= Math.max(chain.firstBlock, (before?.block ?? -1) + 1);
}

/** From a worker if they take many swaps. @throws {SwapsNotSummedError} until it has summed them */
export function readFigures({ reads, contracts }: PriceSources, chain: Chain, query: SharedFiguresQuery) {
  return sumTradeFigures({ reads, worker: contracts?.balances ?? null }, chain, query);
}

/** Null until a worker has summed them. */
export async function readFiguresIfSummed(sources: PriceSources, chain: Chain, query: SharedFiguresQuery) {
  try {
    return await readFigures(sources, chain, query);
  } catch (error) {
    if (error instanceof SwapsNotSummedError) return null;
    throw error;
  }
}
