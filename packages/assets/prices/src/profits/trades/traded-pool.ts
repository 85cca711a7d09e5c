import type { Chain } from '@chainstead/chains';
import { type Address, multiplyFractions, roundedUnits } from '@chainstead/core';
import { type AnchorBook, anchorsOf, type BlockTime, DOLLAR, pairOf, shownToken } from '@chainstead/markets';

export interface TradedPool {
  readonly token0: Address;
  readonly token1: Address;
  readonly isCounted0: boolean;
  readonly isCounted1: boolean;
  readonly anchors: readonly { readonly token: Address; readonly isToken0: boolean; readonly decimals: number }[];
}

/** Dollar tokens never count; wrapped native only against these. @param decimalsOf null: unknown */
export function tradedPoolOf(
  token0: Address,
  token1: Address,
  chain: Chain,
  decimalsOf: (token: Address) => number | null,
): TradedPool {
  const { dollar, native } = anchorsOf(chain);
  const isCounted = (token: Address, other: Address) =>
    !dollar.includes(token) && (!native.includes(token) || dollar.includes(other));
  const { quote, base } = pairOf(token0, token1, chain);
  return {
    token0: shownToken(token0, chain),
    token1: shownToken(token1, chain),
    isCounted0: isCounted(token0, token1),
    isCounted1: isCounted(token1, token0),
    anchors: [quote, base].flatMap((token) => {
      const decimals = decimalsOf(token);
      return decimals === null ? [] : [{ token, isToken0: token === token0, decimals }];
    }),
  };
}

/** `DOLLAR` units, rounded half up, by the anchor's price in that block. Null: not known yet. */
export function valueOfSwap(
  { anchors }: TradedPool,
  swap: BlockTime & { readonly amount0: bigint; readonly amount1: bigint },
  book: AnchorBook,
): bigint | null {
  for (const { token, isToken0, decimals } of anchors) {
    const price = book(token, swap);
    if (price === null && book.isPending(token, swap)) return null;
    if (price === null) continue;
    const amount = isToken0 ? swap.amount0 : swap.amount1;
    const whole = { numerator: amount < 0n ? -amount : amount, denominator: 10n ** BigInt(decimals) };
    return roundedUnits(multiplyFractions(whole, price), DOLLAR);
  }
  return null;
}
