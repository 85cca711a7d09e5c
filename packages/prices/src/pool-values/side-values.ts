import {
  addFractions,
  compareFractions,
  type Fraction,
  invertFraction,
  multiplyFractions,
  smallerFraction,
  wholeFraction,
} from '@chainstead/core';
import type { Sides } from '../token-price/states/side-depths.ts';

/**
 * Returns the value of both sides of a pool; 0 if almost everything is on one side (contract 2.1). Null: a value is unknown.
 * @param skew of the sides, as in {@link skewOf}
 */
export function liquidityOf([one, other]: Sides<Fraction | null>, skew: Fraction | null): Fraction | null {
  if (one === null || other === null) return null;
  const isLopsided = skew !== null && compareFractions(skew, SKEW_MIN) < 0;
  return isLopsided ? wholeFraction(0n) : addFractions(one, other);
}

const SKEW_MIN: Fraction = { numerator: 5n, denominator: 1_000n };

/** Returns twice the smaller side over both; null: one is unknown, or both are empty. @param sides in the same unit */
export function skewOf([one, other]: Sides<Fraction | null>): Fraction | null {
  if (one === null || other === null) return null;
  const sum = addFractions(one, other);
  if (sum.numerator === 0n) return null;
  return multiplyFractions(wholeFraction(2n), multiplyFractions(smallerFraction(one, other), invertFraction(sum)));
}

/** Returns a balance in whole tokens; null: unknown. @param balance base units */
export function wholeTokens(balance: Fraction | null, decimals: number | null): Fraction | null {
  if (decimals === null || balance === null) return null;
  return { numerator: balance.numerator, denominator: balance.denominator * 10n ** BigInt(decimals) };
}

/** Returns the value of an amount; null: unknown. Nothing is worth nothing at any price. */
export function worth(amount: Fraction | null, price: Fraction | null): Fraction | null {
  if (amount?.numerator === 0n) return wholeFraction(0n);
  return amount === null || price === null ? null : multiplyFractions(amount, price);
}
