import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, invertFraction, multiplyFractions } from '@chainstead/core';
import { anchorsOf, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
import type { PoolState } from '../events/pool-event.ts';
import type { PoolFacts } from './pool-creation.ts';
import { priceOf } from './pool-price.ts';

export interface RatedPool extends Pick<PoolFacts, 'isStable' | 'tickSpacing'> {
  readonly decimals: readonly [number | null, number | null];
}

/** Whole tokens 1 per token 0. Null: the pool is empty, or decimals are unknown. */
export function wholePriceOf(
  state: PoolState,
  { isStable, tickSpacing, decimals: [decimals0, decimals1] }: RatedPool,
): Fraction | null {
  if (decimals0 === null || decimals1 === null) return null;
  const ratio = priceOf(state, { isStable, tickSpacing, decimals: [decimals0, decimals1] });
  if (ratio === null || ratio.numerator === 0n) return null;
  return multiplyFractions(ratio, { numerator: 10n ** BigInt(decimals0), denominator: 10n ** BigInt(decimals1) });
}

/** US dollars. `ratio`: whole tokens 1 per token 0. `usdOf` null: no anchor, or unknown. */
export function pricesInPool(
  chain: Chain,
  [token0, token1]: readonly [Address, Address],
  ratio: Fraction | null,
  usdOf: (token: Address) => Fraction | null,
): readonly [Fraction | null, Fraction | null] {
  const [own0, own1] = [usdOf(token0), usdOf(token1)];
  const isFrom0 = isQuotedIn0(token0, token1, anchorsOf(chain)) ? own0 !== null : own1 === null;
  if (isFrom0) return [own0, own0 && ratio && multiplyFractions(own0, invertFraction(ratio))];
  return [own1 && ratio && multiplyFractions(own1, ratio), own1];
}
