import type { Chain } from '@chainstead/chains';
import { type Fraction, wholeFraction } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { createPoolPrincipal, type ManagedPool, type PoolId, type PoolState } from '@chainstead/markets';
import type { PricePlace } from '../token-price/place/price-place.ts';
import type { Sides } from '../token-price/states/side-depths.ts';
import { readPositions } from '../token-price/states/vault-histories.ts';

export type PoolInVault = ManagedPool & { readonly state: PoolState & { readonly of: 'price' } };

/** Base units in positions, without fees. Only pools whose liquidity changes are all indexed. */
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
