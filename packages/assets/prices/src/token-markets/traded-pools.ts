import type { Chain } from '@chainstead/chains';
import { type Address, compareFractions, wholeFraction } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { anchorsOf, exchangesOf, type FiguredPool, formsOf } from '@chainstead/markets/requests';
import { type PoolOfToken, readPoolsOfTokens } from '../token-price/pools/hop-pools.ts';
import { groupByToken, readDecimals } from '../token-price/read/token-price.ts';
import type { TokenState } from './token-state.ts';

const POOLS_MAX = 64;

/** Anyone can create pools: only the deepest {@link POOLS_MAX} count. Others are missing. */
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
  const byForm = groupByToken(pools);
  const chosen = [...states].flatMap(([token, { depths }]) => {
    const ofToken = new Set(formsOf(token, chain).flatMap((form) => byForm.get(form) ?? []));
    const depthOf = ({ pool }: PoolOfToken) => depths.get(pool) ?? NOTHING;
    const deepest = [...ofToken]
      .toSorted((a, b) => compareFractions(depthOf(b), depthOf(a)) || (a.pool < b.pool ? -1 : 1))
      .slice(0, POOLS_MAX);
    return deepest.length === 0 ? [] : [[token, deepest] as const];
  });
  const allChosen = chosen.flatMap(([, found]) => found);
  const decimals = await readDecimals(database, chain, allChosen);
  const figured = ({ pool, token0, token1 }: PoolOfToken): FiguredPool => ({
    ...{ pool: pool as FiguredPool['pool'], token0, token1 },
    decimals: [decimals.get(token0) ?? null, decimals.get(token1) ?? null],
  });
  return new Map(chosen.map(([token, found]) => [token, found.map(figured)]));
}

const NOTHING = wholeFraction(0n);
