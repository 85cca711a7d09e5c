import type { Chain } from '@chainstead/chains';
import { type Address, addFractions, type Fraction, multiplyFractions } from '@chainstead/core';
import {
  DOLLAR,
  type FiguredPool,
  formsOf,
  type PoolGroup,
  pairOf,
  type TradeSums,
} from '@chainstead/markets/requests';

/** A purchase is one of this token, also where it is the quote token. */
export function poolsOfToken(token: Address, pools: readonly FiguredPool[], chain: Chain): PoolGroup {
  const forms = formsOf(token, chain);
  const isReversed = ({ token0, token1 }: FiguredPool) => !forms.includes(pairOf(token0, token1, chain).base);
  return { key: token, pools: pools.map((pool) => ({ pool, isReversed: isReversed(pool) })) };
}

/** US dollars; null: unknown. */
export function volumeOf({ buyVolume, sellVolume }: TradeSums): Fraction | null {
  const [bought, sold] = [inDollars(buyVolume), inDollars(sellVolume)];
  return bought === null || sold === null ? null : addFractions(bought, sold);
}

export function inDollars(volume: bigint | null): Fraction | null {
  return volume === null ? null : { numerator: volume, denominator: DOLLAR };
}

/** US dollars; null: one is unknown, or the product is implausible (contract 3.5). */
export function dilutedValuation(usd: Fraction | null, supply: TokenSupply | undefined): Fraction | null {
  if (usd === null || supply === undefined) return null;
  const value = multiplyFractions(usd, { numerator: supply.units, denominator: 10n ** BigInt(supply.decimals) });
  return value.numerator > VALUATION_MAX * value.denominator ? null : value;
}

export interface TokenSupply {
  readonly units: bigint;
  readonly decimals: number;
}

const VALUATION_MAX = 10n ** 13n;
