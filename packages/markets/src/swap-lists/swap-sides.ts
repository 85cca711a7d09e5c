import { type Address, decimalFraction, type Fraction } from '@chainstead/core';
import { type Anchors, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
import { soldToken } from '../trades/trade-direction.ts';
import type { TokenFacts } from './token-facts.ts';

/** One token of a pool in a swap. */
export interface SwapSide {
  readonly token: TokenFacts;
  readonly type: 'token0' | 'token1';
  /** Base units into the pool; negative out of it; null: unknown. */
  readonly amount: string | null;
}

/** A swap by base and quote token. */
export interface SwapSides {
  readonly base: SwapSide;
  readonly quote: SwapSide;
  /** From the view of the trader; null: the swap is no trade. */
  readonly trade: { readonly sold: SwapSide; readonly bought: SwapSide } | null;
}

/** Returns the sides of a swap or liquidity change; null if a token is unknown. Amounts of liquidity have one sign: they are no trade. */
export function sidesOf(
  row: {
    readonly token0: Address | null;
    readonly token1: Address | null;
    readonly amount0: string | null;
    readonly amount1: string | null;
  },
  tokenOf: (token: Address) => TokenFacts,
  anchors: Anchors,
): SwapSides | null {
  if (row.token0 === null || row.token1 === null) return null;
  const side0: SwapSide = { token: tokenOf(row.token0), type: 'token0', amount: row.amount0 };
  const side1: SwapSide = { token: tokenOf(row.token1), type: 'token1', amount: row.amount1 };
  const [base, quote] = isQuotedIn0(row.token0, row.token1, anchors) ? [side1, side0] : [side0, side1];
  const sold =
    row.amount0 === null || row.amount1 === null ? null : soldToken(BigInt(row.amount0), BigInt(row.amount1));
  if (sold === null) return { base, quote, trade: null };
  return { base, quote, trade: sold === 0 ? { sold: side0, bought: side1 } : { sold: side1, bought: side0 } };
}

/**
 * Returns the side from whose view a swap is a purchase or a sale.
 * @param focus forms of a token of the swap; empty: the base token
 */
export function viewedSide(
  { token0 }: { readonly token0: Address | null },
  { base, quote }: SwapSides,
  focus: readonly Address[],
): SwapSide {
  if (focus.length === 0) return base;
  const type = token0 !== null && focus.includes(token0) ? 'token0' : 'token1';
  return base.type === type ? base : quote;
}

/** Quote tokens per base token of a trade, from its exact amounts; null if the swap is no trade or decimals are unknown. */
export function baseQuotePrice({ base, quote, trade }: SwapSides): string | null {
  const [amount, price] = [wholeAmount(base), wholeAmount(quote)];
  if (trade === null || amount === null || price === null) return null;
  const ratio = {
    numerator: price.numerator * amount.denominator,
    denominator: price.denominator * amount.numerator,
  };
  return decimalFraction(ratio, SIGNIFICANT_DIGITS);
}

const SIGNIFICANT_DIGITS = 17;

/** Whole tokens of a side without the sign; null: the amount or the decimals are unknown. */
export function wholeAmount({ amount, token: { decimals } }: SwapSide): Fraction | null {
  if (amount === null || decimals === null) return null;
  return { numerator: BigInt(amount.replace('-', '')), denominator: 10n ** BigInt(decimals) };
}
