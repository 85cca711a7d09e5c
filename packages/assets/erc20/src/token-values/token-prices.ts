import type { Chain } from '@chainstead/chains';
import type { Address, Fraction, Logger } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';

export interface TokenDollars {
  /** US dollars per whole token. */
  readonly usd: Fraction;
  /** US dollars that the token's pools could pay out. Null: a price without pools. */
  readonly depth: Fraction | null;
}

/**
 * Prices at a block's end; missing without a price. A package above this one implements it: prices
 * follow from pools.
 */
export type ReadTokenPrices = (
  sources: { readonly database: ReadDatabase; readonly logger: Logger },
  chain: Chain,
  tokens: readonly Address[],
  block: number,
) => Promise<ReadonlyMap<Address, TokenDollars>>;

/** Null: no price, or the decimals are unknown. @param amount base units */
export function dollarsOfAmount(
  amount: bigint,
  decimals: number | null,
  price: Fraction | undefined,
): Fraction | null {
  if (price === undefined || decimals === null) return null;
  return { numerator: amount * price.numerator, denominator: price.denominator * 10n ** BigInt(decimals) };
}
