import type { Chain } from '@chainstead/chains';
import { type Fraction, wholeFraction } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { createPoolPrincipal, type ManagedPool, type PoolId, type PoolState } from '@chainstead/markets';
import type { PricePlace } from '../token-price/place/price-place.ts';
import type { Sides } from '../token-price/states/side-depths.ts';
import { readPositions } from '../token-price/states/vault-histories.ts';

/** A pool at a pool manager with its last state. */
export interface PoolInVault extends ManagedPool {
  readonly state: PoolState & { readonly of: 'price' };
}

/**
 * Returns base units of both tokens in the positions of pools at a place, without fees: a pool manager holds the tokens of all its pools
 * together. Pools are left out unless every liquidity change since their creation is indexed.
 */
export async function readVaultBalances(
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
      for (const one of before.ticks) principal.change(one);
      for (const { tickLower, tickUpper, liquidityDelta } of changes) {
        principal.change({ tick: tickLower, net: liquidityDelta });
        principal.change({ tick: tickUpper, net: -liquidityDelta });
      }
      const [amount0, amount1] = principal.at(state).amounts;
      return [pool, [wholeFraction(amount0), wholeFraction(amount1)]];
    }),
  );
}
