import type { Chain } from '@chainstead/chains';
import { type Address, compareFractions, wholeFraction } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { anchorsOf, exchangesOf, type FiguredPool, formsOf } from '@chainstead/markets';
import { type PoolOfToken, readPoolsOfTokens } from '../token-price/pools/pools-of-token.ts';
import { readDecimals } from '../token-price/read/token-price.ts';
import type { TokenState } from './token-state.ts';

/** Pools of a token whose trades count. */
const POOLS_MAX = 64;

/**
 * Returns the pools of each token whose trades count: proven pools of any exchange against an anchor. Anyone can create pools, so only the
 * deepest {@link POOLS_MAX} count; those without a known depth come last. Tokens without a pool are missing.
 */
export async function readTradedPools(
  database: ReadDatabase,
  chain: Chain,
  states: ReadonlyMap<Address, Pick<TokenState, 'depths'>>,
): Promise<ReadonlyMap<Address, readonly FiguredPool[]>> {
  const forms = [...new Set([...states.keys()].flatMap((token) => formsOf(token, chain)))];
  if (forms.length === 0) return new Map();
  const anchors = Object.values(anchorsOf(chain)).flat();
  const factories = exchangesOf(chain).all.map(({ deployment }) => deployment.factory);
  const pools = await readPoolsOfTokens(database, chain, { forms, anchors, factories });
  const sides = pools.flatMap((pool) => [
    { token: pool.token0, pool },
    { token: pool.token1, pool },
  ]);
  const byForm = Map.groupBy(sides, ({ token }) => token);
  const chosen = [...states].flatMap(([token, { depths }]) => {
    const ofToken = new Set(formsOf(token, chain).flatMap((form) => (byForm.get(form) ?? []).map(({ pool }) => pool)));
    const deepest = [...ofToken].toSorted((one, other) => byDepth(one, other, depths)).slice(0, POOLS_MAX);
    return deepest.length === 0 ? [] : [[token, deepest] as const];
  });
  const decimals = await readDecimals(
    database,
    chain,
    chosen.flatMap(([, found]) => found),
  );
  const figured = ({ pool, token0, token1 }: PoolOfToken): FiguredPool => ({
    ...{ pool: pool as FiguredPool['pool'], token0, token1 },
    decimals: [decimals.get(token0) ?? null, decimals.get(token1) ?? null],
  });
  return new Map(chosen.map(([token, found]) => [token, found.map(figured)]));
}

function byDepth(one: PoolOfToken, other: PoolOfToken, depths: TokenState['depths']): number {
  const [own, others] = [depths.get(one.pool) ?? NOTHING, depths.get(other.pool) ?? NOTHING];
  return compareFractions(others, own) || (one.pool < other.pool ? -1 : 1);
}

const NOTHING = wholeFraction(0n);
