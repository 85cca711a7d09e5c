import {
  type Address,
  decimalFraction,
  type Fraction,
  invertFraction,
  multiplyFractions,
} from '@chainstead/core';
import type { TokenBook, TokenFacts } from '@chainstead/tokens/token-book';
import { type Anchors, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
import { soldToken } from '../trades/trade-direction.ts';

export interface SwapSide {
  readonly token: TokenFacts;
  readonly type: 'token0' | 'token1';
  /** Base units into the pool; negative: out of it; null: unknown. */
  readonly amount: string | null;
}

export interface SwapSides {
  readonly base: SwapSide;
  readonly quote: SwapSide;
  readonly trade: { readonly sold: SwapSide; readonly bought: SwapSide } | null;
}

/** Null: an unknown token. Amounts of liquidity have one sign: no trade. */
export function sidesOf(
  row: Record<'token0' | 'token1', Address | null> & Record<'amount0' | 'amount1', string | null>,
  tokenOf: TokenBook,
  anchors: Anchors,
): SwapSides | null {
  const { token0, token1, amount0, amount1 } = row;
  if (token0 === null || token1 === null) return null;
  const side0: SwapSide = { token: tokenOf(token0), type: 'token0', amount: amount0 };
  const side1: SwapSide = { token: tokenOf(token1), type: 'token1', amount: amount1 };
  const [base, quote] = isQuotedIn0(token0, token1, anchors) ? [side1, side0] : [side0, side1];
  const sold = amount0 === null || amount1 === null ? null : soldToken(BigInt(amount0), BigInt(amount1));
  if (sold === null) return { base, quote, trade: null };
  return { base, quote, trade: sold === 0 ? { sold: side0, bought: side1 } : { sold: side1, bought: side0 } };
}

/** `focus`: forms of a token of the swap; empty: the base token. */
export function viewedSide(
  { token0 }: { readonly token0: Address | null },
  { base, quote }: SwapSides,
  focus: readonly Address[],
): SwapSide {
  if (focus.length === 0) return base;
  const type = token0 !== null && focus.includes(token0) ? 'token0' : 'token1';
  return base.type === type ? base : quote;
}

/** Quote tokens per base token. Null: no trade, or unknown decimals. */
export function baseQuotePrice({ base, quote, trade }: SwapSides): string | null {
  const [amount, price] = [wholeAmount(base), wholeAmount(quote)];
  if (trade === null || amount === null || price === null) return null;
  return decimalFraction(multiplyFractions(price, invertFraction(amount)), SIGNIFICANT_DIGITS);
}

const SIGNIFICANT_DIGITS = 17;

/** Unsigned. Null: unknown amount or decimals. */
export function wholeAmount({ amount, token: { decimals } }: SwapSide): Fraction | null {
  if (amount === null || decimals === null) return null;
  return { numerator: BigInt(amount.replace('-', '')), denominator: 10n ** BigInt(decimals) };
}
