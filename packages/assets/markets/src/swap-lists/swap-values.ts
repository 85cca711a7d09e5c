import {
  type Address,
  type Fraction,
  invertFraction,
  multiplyFractions,
  nearestNumber,
  wholeFraction,
} from '@chainstead/core';
import type { AnchorBook, BlockTime } from '../anchors/anchor-steps.ts';
import { type SwapSides, wholeAmount } from './swap-sides.ts';

/** US dollars in the swap's block; null: unknown. */
export interface SwapValues {
  readonly basePriceUsd: number | null;
  readonly quotePriceUsd: number | null;
  readonly totalValueUsd: number | null;
}

const UNVALUED: SwapValues = { basePriceUsd: null, quotePriceUsd: null, totalValueUsd: null };

/** By the quote token, else the base token. The other price follows. No trade: 0. */
export function valuesOf({ base, quote, trade }: SwapSides, anchors: AnchorBook, at: BlockTime): SwapValues {
  const usdOf = (token: Address): Fraction | null => anchors(token, at);
  if (anchors.isPending(quote.token.address, at)) return UNVALUED;
  const quotePrice = usdOf(quote.token.address);
  const [anchor, other] = quotePrice === null ? [base, quote] : [quote, base];
  const price = quotePrice ?? usdOf(base.token.address);
  const amount = wholeAmount(anchor);
  if (price === null || amount === null) return UNVALUED;
  const value = trade === null ? wholeFraction(0n) : multiplyFractions(amount, price);
  const otherAmount = trade === null ? null : wholeAmount(other);
  const anchorUsd = nearestNumber(price);
  const otherUsd = otherAmount && nearestNumber(multiplyFractions(value, invertFraction(otherAmount)));
  return {
    basePriceUsd: anchor === base ? anchorUsd : otherUsd,
    quotePriceUsd: anchor === base ? otherUsd : anchorUsd,
    totalValueUsd: nearestNumber(value),
  };
}
