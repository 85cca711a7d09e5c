import type { Chain } from '@chainstead/chains';
import { type Address, decimalFraction, type Fraction, multiplyFractions, wholeFraction } from '@chainstead/core';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import { type SwapSide, type SwapSides, wholeAmount } from './swap-sides.ts';

/** Dollar values of a swap in its block; null: unknown. */
export interface SwapValues {
  readonly basePriceUsd: number | null;
  readonly quotePriceUsd: number | null;
  readonly totalValueUsd: number | null;
}

const UNVALUED: SwapValues = { basePriceUsd: null, quotePriceUsd: null, totalValueUsd: null };

/**
 * Returns the values of a swap: the amount of its anchor times the price of the anchor. The quote token is the preferred anchor; the base token
 * counts if the quote token has no price. The price of the other token follows from its amount.
 * @param ether US dollars per ether at the place of the swap; null: unknown
 */
export function valuesOf({ base, quote }: SwapSides, chain: Chain, ether: Fraction | null): SwapValues {
  const quotePrice = anchorPrice(quote.token.address, chain, ether);
  const [anchor, other] = quotePrice === null ? [base, quote] : [quote, base];
  const price = quotePrice ?? anchorPrice(base.token.address, chain, ether);
  const amount = wholeAmount(anchor);
  if (price === null || amount === null) return UNVALUED;
  const value = multiplyFractions(amount, price);
  const [anchorUsd, otherUsd] = [numberOf(price), pricePerToken(value, other)];
  return {
    basePriceUsd: anchor === base ? anchorUsd : otherUsd,
    quotePriceUsd: anchor === base ? otherUsd : anchorUsd,
    totalValueUsd: numberOf(value),
  };
}

/** US dollars per whole token of an anchor; null: no anchor, or its price is unknown. The only place where prices of anchors come from. */
function anchorPrice(token: Address, chain: Chain, ether: Fraction | null): Fraction | null {
  const anchors = anchorsOf(chain);
  if (anchors.dollar.includes(token)) return ONE;
  if (anchors.native.includes(token)) return chain.native.isEther ? ether : null;
  return anchors.ether.includes(token) ? ether : null;
}

const ONE = wholeFraction(1n);

function pricePerToken(value: Fraction, side: SwapSide): number | null {
  const amount = wholeAmount(side);
  if (amount === null || amount.numerator === 0n) return null;
  return numberOf(multiplyFractions(value, { numerator: amount.denominator, denominator: amount.numerator }));
}

/** Significant digits of a double. */
const DIGITS = 17;

function numberOf(fraction: Fraction): number {
  return Number(decimalFraction(fraction, DIGITS));
}
