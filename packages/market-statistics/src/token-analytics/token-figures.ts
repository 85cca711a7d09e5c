import type { Chain } from '@chainstead/chains';
import { type Address, addFractions, type Fraction, multiplyFractions } from '@chainstead/core';
import {
  DOLLAR,
  type FiguredPool,
  formsOf,
  joinFigures,
  NO_TRADES,
  pairOf,
  type TradeFigures,
} from '@chainstead/markets';

/**
 * Returns the figures of a token over its pools, one for each span. A purchase is one of this token, also in pools with it as quote token.
 * @param figures of each pool, in the order of the spans
 */
export function figuresOfToken(
  { token, pools }: { readonly token: Address; readonly pools: readonly FiguredPool[] },
  figures: ReadonlyMap<string, readonly TradeFigures[]>,
  chain: Chain,
  spans: number,
): readonly TradeFigures[] {
  const forms = formsOf(token, chain);
  return Array.from({ length: spans }, (_, span) =>
    pools
      .map(({ pool, token0, token1 }) => {
        const found = figures.get(pool)?.[span] ?? NO_TRADES;
        return forms.includes(pairOf(token0, token1, chain).base) ? found : fromQuoteSide(found);
      })
      .reduce(joinFigures, NO_TRADES),
  );
}

/** A purchase of the base token is a sale of the quote token. */
function fromQuoteSide({ buys, sells, buyVolume, sellVolume, buyers, sellers }: TradeFigures): TradeFigures {
  return { buys: sells, sells: buys, buyVolume: sellVolume, sellVolume: buyVolume, buyers: sellers, sellers: buyers };
}

/** US dollars of both volumes; null: unknown. */
export function volumeOf({ buyVolume, sellVolume }: TradeFigures): Fraction | null {
  const [bought, sold] = [inDollars(buyVolume), inDollars(sellVolume)];
  return bought === null || sold === null ? null : addFractions(bought, sold);
}

export function inDollars(volume: bigint | null): Fraction | null {
  return volume === null ? null : { numerator: volume, denominator: DOLLAR };
}

/** Price times supply in US dollars; null: one is unknown, or the product is beyond any real token's (contract 3.5). */
export function dilutedValuation(usd: Fraction | null, supply: TokenSupply | undefined): Fraction | null {
  if (usd === null || supply === undefined) return null;
  const value = multiplyFractions(usd, { numerator: supply.units, denominator: 10n ** BigInt(supply.decimals) });
  return value.numerator > VALUATION_MAX * value.denominator ? null : value;
}

export interface TokenSupply {
  /** Base units. */
  readonly units: bigint;
  readonly decimals: number;
}

/** US dollars. */
const VALUATION_MAX = 10n ** 13n;
