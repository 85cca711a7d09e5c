import type { Chain } from '@chainstead/chains';
import {
  type Address,
  addFractions,
  compareFractions,
  type Fraction,
  invertFraction,
  isAddress,
  multiplyFractions,
  smallerFraction,
  waitingAtMost,
  wholeFraction,
} from '@chainstead/core';
import { hexBytes, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { type BalanceSeries, type Holding, readBalanceSeries, requestBalances } from '@chainstead/erc20/requests';
import {
  createPoolPrincipal,
  type ManagedPool,
  type PoolId,
  type PoolState,
  pairOf,
  poolKey,
  poolStateOf,
  pricesInPool,
  STATE_COLUMNS,
  type StateColumns,
  wholePriceOf,
} from '@chainstead/markets/requests';
import { anchorPrices } from '../token-price/place/anchor-prices.ts';
import type { PricePlace } from '../token-price/place/price-place.ts';
import type { PriceSources } from '../token-price/read/prices-with-balances.ts';
import { readPositions } from '../token-price/states/bin-histories.ts';
import { type Sides, virtualReserves } from '../token-price/states/side-depths.ts';

export type ReadPoolValues = PoolValues & { readonly isFinal: boolean };

/** By the last states until a place. Missing balances of the deepest pools are read. */
export async function readPoolValues(
  sources: PriceSources,
  chain: Chain,
  pools: readonly ValuedPool[],
  place: PricePlace,
): Promise<ReadonlyMap<PoolId, ReadPoolValues>> {
  const { reads, database } = sources;
  const states = await readStates(reads, chain, pools, place);
  const anchors = anchorPrices(place);
  const held = pools.filter(
    (pool) => holdsTokens(pool) && (states.get(pool.pool)?.of ?? 'reserves') !== 'reserves',
  );
  const found = await readBalances(reads, chain, held, place);
  const unread = held.filter(({ pool }) => found.get(pool)?.some(({ of }) => of === 'unread' || of === 'moved'));
  const wanted = deepest(chain, unread, states, anchors);
  const isRead = await requestOf(sources, chain, wanted);
  const again = isRead
    ? await readBalances(database, chain, wanted, place)
    : new Map<PoolId, Sides<BalanceSeries>>();
  const old = held.filter(({ pool }) => found.get(pool)?.some((series) => series.of === 'known' && series.isOld));
  await waitingAtMost(0, () => requestOf(sources, chain, deepest(chain, old, states, anchors)));
  const inVaults = pools.filter((pool) => !holdsTokens(pool) && states.get(pool.pool)?.of === 'price');
  const vaultPools = deepest(chain, inVaults, states, anchors).flatMap(({ pool, factory }): PoolInVault[] => {
    const state = states.get(pool);
    return factory === null || state?.of !== 'price' ? [] : [{ pool, factory, state }];
  });
  const positions = await readVaultBalances(reads, chain, vaultPools, place);
  return new Map(
    pools.map((pool): readonly [PoolId, ReadPoolValues] => {
      const state = states.get(pool.pool);
      if (state === undefined) return [pool.pool, { ...UNKNOWN_VALUES, isFinal: true }];
      const series = again.get(pool.pool) ?? found.get(pool.pool);
      const values = valuesOfPool(
        chain,
        pool,
        state,
        positions.get(pool.pool) ?? balancesOf(state, series),
        anchors,
      );
      return [
        pool.pool,
        { ...values, isFinal: series?.every(({ of }) => of !== 'unread' && of !== 'moved') ?? true },
      ];
    }),
  );
}

const holdsTokens = ({ pool }: ValuedPool): boolean => isAddress(pool);

const POOLS_PER_STATEMENT = 64;

const READS_MAX = 64;

async function readStates(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly ValuedPool[],
  { runStart, block }: PricePlace,
): Promise<ReadonlyMap<PoolId, PoolState>> {
  const states = new Map<PoolId, PoolState>();
  for (let start = 0; start < pools.length; start += POOLS_PER_STATEMENT) {
    const some = pools.slice(start, start + POOLS_PER_STATEMENT);
    const [chainId, first, last] = [sql`${chain.id}::bigint`, sql`${runStart}::bigint`, sql`${block}::bigint`];
    const ranges = some.map(
      ({ pool }, position) => sql`(SELECT ${rawSql(position)} AS position, ${STATE_COLUMNS} FROM pool_states
        WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea
        AND block_number >= ${first} AND block_number <= ${last} ORDER BY block_number DESC LIMIT 1)`,
    );
    const rows = await database.select<StateColumns & { readonly position: number }>(
      joinSql(ranges, ' UNION ALL '),
    );
    for (const row of rows) {
      const [pool, state] = [some[row.position], poolStateOf(row)];
      if (pool !== undefined && state !== null) states.set(pool.pool, state);
    }
  }
  return states;
}

async function readBalances(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly ValuedPool[],
  { block }: PricePlace,
): Promise<ReadonlyMap<PoolId, Sides<BalanceSeries>>> {
  const series = await readBalanceSeries(database, chain, pools.flatMap(holdingsOf), {
    start: block,
    end: block,
  });
  return new Map(
    pools.flatMap(({ pool }, position) => {
      const [left, right] = series.slice(2 * position);
      return left === undefined || right === undefined ? [] : [[pool, [left, right]] as const];
    }),
  );
}

function holdingsOf({ pool, token0, token1 }: ValuedPool): readonly Holding[] {
  return [token0, token1].map((token) => ({ account: pool as Address, token }));
}

function balancesOf(state: PoolState, series: Sides<BalanceSeries> | undefined): Sides<Fraction | null> {
  if (state.of === 'reserves') return [wholeFraction(state.reserve0), wholeFraction(state.reserve1)];
  const balance = (of: BalanceSeries | undefined) => (of?.of === 'known' ? wholeFraction(of.before) : null);
  return [balance(series?.[0]), balance(series?.[1])];
}

/** By virtual reserves: anyone may create empty pools. */
function deepest(
  chain: Chain,
  pools: readonly ValuedPool[],
  states: ReadonlyMap<PoolId, PoolState>,
  anchors: ReadonlyMap<Address, Fraction>,
): readonly ValuedPool[] {
  /** US dollars; 0: unknown. */
  const depthOf = (pool: ValuedPool): Fraction => {
    const state = states.get(pool.pool);
    if (state === undefined || state.of === 'bin') return wholeFraction(0n);
    return valuesOfPool(chain, pool, state, virtualReserves(state), anchors).liquidity ?? wholeFraction(0n);
  };
  return pools
    .map((pool) => ({ pool, depth: depthOf(pool) }))
    .toSorted((a, b) => compareFractions(b.depth, a.depth) || (a.pool.pool < b.pool.pool ? -1 : 1))
    .slice(0, READS_MAX)
    .map(({ pool }) => pool);
}

async function requestOf(
  { contracts }: PriceSources,
  chain: Chain,
  pools: readonly ValuedPool[],
): Promise<boolean> {
  if (contracts === null || pools.length === 0) return false;
  const { balances, logger } = contracts;
  return requestBalances(balances, chain, pools.flatMap(holdingsOf), logger);
}

type PoolInVault = ManagedPool & { readonly state: PoolState & { readonly of: 'price' } };

/** Base units in positions, without fees. Only pools whose liquidity changes are all indexed. */
async function readVaultBalances(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolInVault[],
  { block }: Pick<PricePlace, 'block'>,
): Promise<ReadonlyMap<PoolId, Sides<Fraction>>> {
  const positions = await readPositions(database, chain, pools, { start: block, block });
  return new Map(
    positions.map(({ pool: { pool, state }, before, changes }) => {
      const principal = createPoolPrincipal([
        ...before.ticks.map(({ tick }) => tick),
        ...changes.flatMap(({ tickLower, tickUpper }) => [tickLower, tickUpper]),
      ]);
      for (const tick of before.ticks) principal.change(tick);
      for (const { tickLower, tickUpper, liquidityDelta } of changes) {
        principal.change({ tick: tickLower, net: liquidityDelta });
        principal.change({ tick: tickUpper, net: -liquidityDelta });
      }
      const [amount0, amount1] = principal.at(state).amounts;
      return [pool, [wholeFraction(amount0), wholeFraction(amount1)]];
    }),
  );
}

/** 0 if almost all is on one side (contract 2.1). Null: unknown. @param skew of {@link skewOf} */
export function liquidityOf([side0, side1]: Sides<Fraction | null>, skew: Fraction | null): Fraction | null {
  if (side0 === null || side1 === null) return null;
  const isLopsided = skew !== null && compareFractions(skew, SKEW_MIN) < 0;
  return isLopsided ? wholeFraction(0n) : addFractions(side0, side1);
}

const SKEW_MIN: Fraction = { numerator: 5n, denominator: 1_000n };

/** Twice the smaller side over both; null: unknown, or both empty. @param sides in the same unit */
export function skewOf([side0, side1]: Sides<Fraction | null>): Fraction | null {
  if (side0 === null || side1 === null) return null;
  const sum = addFractions(side0, side1);
  if (sum.numerator === 0n) return null;
  return multiplyFractions(
    wholeFraction(2n),
    multiplyFractions(smallerFraction(side0, side1), invertFraction(sum)),
  );
}

export function wholeTokens(balance: Fraction | null, decimals: number | null): Fraction | null {
  if (decimals === null || balance === null) return null;
  return { numerator: balance.numerator, denominator: balance.denominator * 10n ** BigInt(decimals) };
}

/** Null: unknown. Nothing is worth nothing at any price. */
export function worth(amount: Fraction | null, price: Fraction | null): Fraction | null {
  if (amount?.numerator === 0n) return wholeFraction(0n);
  return amount === null || price === null ? null : multiplyFractions(amount, price);
}

export interface ValuedPool {
  readonly pool: PoolId;
  readonly factory: Address | null;
  readonly token0: Address;
  readonly token1: Address;
  readonly isStable: boolean | null;
  readonly tickSpacing: number | null;
  readonly decimals: Sides<number | null>;
}

interface PoolValues {
  /** Whole quote tokens per base token. */
  readonly baseQuotePrice: Fraction | null;
  /** US dollars per whole token 0 and token 1, in this pool. */
  readonly usd: Sides<Fraction | null>;
  /** US dollars of the pool's balances of token 0 and token 1. */
  readonly sides: Sides<Fraction | null>;
  /** US dollars; 0 if almost everything is on one side. */
  readonly liquidity: Fraction | null;
  /** 1: both sides are worth the same. 0: one is empty. Null also for an empty pool. */
  readonly skew: Fraction | null;
}

const UNKNOWN_VALUES: PoolValues = {
  ...{ baseQuotePrice: null, usd: [null, null], sides: [null, null] },
  ...{ liquidity: null, skew: null },
};

/** @param balances base units; null: unknown @param anchors US dollars per whole token */
export function valuesOfPool(
  chain: Chain,
  pool: ValuedPool,
  state: PoolState,
  balances: Sides<Fraction | null>,
  anchors: ReadonlyMap<Address, Fraction>,
): PoolValues {
  const ratio = wholePriceOf(state, pool);
  const { isQuotedIn0 } = pairOf(pool.token0, pool.token1, chain);
  const usd = pricesInPool(chain, [pool.token0, pool.token1], ratio, (token) => anchors.get(token) ?? null);
  const [amount0, amount1] = [
    wholeTokens(balances[0], pool.decimals[0]),
    wholeTokens(balances[1], pool.decimals[1]),
  ];
  const sides = [worth(amount0, usd[0]), worth(amount1, usd[1])] as const;
  const skew = skewOf([worth(amount0, ratio), amount1]);
  return {
    baseQuotePrice: ratio === null || !isQuotedIn0 ? ratio : invertFraction(ratio),
    ...{ usd, sides, skew, liquidity: liquidityOf(sides, skew) },
  };
}
