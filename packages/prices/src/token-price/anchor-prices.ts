import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, wholeFraction } from '@chainstead/core';
import { anchorsOf } from '@chainstead/markets';
import type { PricePlace } from './price-place.ts';

/** US dollars per whole token of each anchor that has a price at the place. */
export function anchorPrices(chain: Chain, { ether }: Pick<PricePlace, 'ether'>): ReadonlyMap<Address, Fraction> {
  const { dollar, native, ether: bridged } = anchorsOf(chain);
  const etherTokens = ether === null ? [] : [...(chain.native.isEther ? native : []), ...bridged];
  return new Map([
    ...dollar.map((token) => [token, wholeFraction(1n)] as const),
    ...etherTokens.map((token) => [token, ether ?? wholeFraction(0n)] as const),
  ]);
}
