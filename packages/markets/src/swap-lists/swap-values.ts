import { type Address, type Fraction, multiplyFractions, nearestNumber, wholeFraction } from '@chainstead/core';
import type { AnchorBook, BlockTime } from '../anchors/anchor-steps.ts';
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
 * counts if the quote token has no price. The price of the other token follows from its amount. A swap that is no trade has
 * the value 0, and no price of the other token. While the price of the quote token is not known
 * yet, there are no values.
 */
export function valuesOf({ base, quote, trade }: SwapSides, anchors: AnchorBook, at: BlockTime): SwapValues {
  const usdOf = (token: Address): Fraction | null => anchors(token, at);
  if (anchors.isPending(quote.token.address, at)) return UNVALUED;
  const quotePrice = usdOf(quote.token.address);
  const [anchor, other] = quotePrice === null ? [base, quote] : [quote, base];
  const price = quotePrice ?? usdOf(base.token.address);
  const amount = wholeAmount(anchor);
  if (price === null || amount === null) return UNVALUED;
  const value = trade === null ? wholeFraction(0n) : multiplyFractions(amount, price);
  const [anchorUsd, otherUsd] = [nearestNumber(price), trade === null ? null : pricePerToken(value, other)];
  return {
    basePriceUsd: anchor === base ? anchorUsd : otherUsd,
    quotePriceUsd: anchor === base ? otherUsd : anchorUsd,
    totalValueUsd: nearestNumber(value),
  };
}

function pricePerToken(value: Fraction, side: SwapSide): number | null {
  const amount = wholeAmount(side);
  if (amount === null) return null;
  return nearestNumber(multiplyFractions(value, { numerator: amount.denominator, denominator: amount.numerator }));
}
