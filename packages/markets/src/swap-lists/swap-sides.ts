import { type Address, decimalFraction, type Fraction } from '@chainstead/core';
import { type Anchors, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
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
  /** Into the pool, from the view of the trader. */
  readonly sold: SwapSide;
  readonly bought: SwapSide;
}

/** Returns the sides of a swap or liquidity change; null if a token is unknown. For liquidity, `sold` and `bought` mean nothing. */
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
  const [sold, bought] = isPositive(row.amount0) ? [side0, side1] : [side1, side0];
  return { base, quote, sold, bought };
}

/** Quote tokens per base token of a swap, from its exact amounts; null if the base amount is 0 or decimals are unknown. */
export function baseQuotePrice({ base, quote }: SwapSides): string | null {
  const [amount, price] = [wholeAmount(base), wholeAmount(quote)];
  if (amount === null || price === null || amount.numerator === 0n) return null;
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

function isPositive(amount: string | null): boolean {
  return amount !== null && BigInt(amount) > 0n;
}
