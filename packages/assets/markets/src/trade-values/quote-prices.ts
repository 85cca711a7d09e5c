import type { Chain } from '@chainstead/chains';
import { type Address, invertFraction, multiplyFractions, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import { type AnchorBook, type BlockTime, isPriceable } from '../anchors/anchor-steps.ts';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import type { QuotePrices } from './price-trade.ts';

export function quotePrices(chain: Chain, quote: Address, book: AnchorBook): (at: BlockTime) => QuotePrices {
  const isNative = anchorsOf(chain).native.includes(quote);
  // A trade may turn out to be dust once its value is known.
  const isKnownLater = isPriceable(chain, quote);
  return (at) => {
    const usd = book(quote, at);
    if (isNative) return { usd, native: usd === null && isKnownLater ? null : wholeFraction(1n) };
    const nativeUsd = usd === null ? null : book(ZERO_ADDRESS, at);
    const isKnown = usd !== null && nativeUsd !== null;
    return { usd, native: isKnown ? multiplyFractions(usd, invertFraction(nativeUsd)) : null };
  };
}
