import type { Chain } from '@chainstead/chains';
import {
  type Address,
  compareFractions,
  type Fraction,
  isAddress,
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
  poolKey,
  poolStateOf,
  STATE_COLUMNS,
  type StateColumns,
} from '@chainstead/markets/requests';
import { anchorPrices } from '../token-price/place/anchor-prices.ts';
import type { PricePlace } from '../token-price/place/price-place.ts';
import type { PriceSources } from '../token-price/read/prices-with-balances.ts';
import { type Sides, virtualReserves } from '../token-price/states/side-depths.ts';
import { readPositions } from '../token-price/states/vault-histories.ts';
import { type PoolValues, UNKNOWN_VALUES, type ValuedPool, valuesOfPool } from './pool-values.ts';

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
