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

/** 0 if almost all is on one side (contract 2.1). Null: unknown. @param skew of {@link skewOf} */
export function liquidityOf([side0, side1]: Sides<Fraction | null>, skew: Fraction | null): Fraction | null {
  if (side0 === null || side1 === null) return null;
  const isLopsided = skew !== null && compareFractions(skew, SKEW_MIN) < 0;
  return isLopsided ? wholeFraction(0n) : addFractions(side0, side1);
}

const SKEW_MIN: Fraction = { numerator: 5n, denominator: 1_000n };

/** Twice the smaller side over both; null: unknown, or both empty. @param sides in the same unit */
export function skewOf([side0, side1]: Sides<Fraction | null>): Fraction | null {
  if (side0 === null || side1 === null) return null;
  const sum = addFractions(side0, side1);
  if (sum.numerator === 0n) return null;
  return multiplyFractions(
    wholeFraction(2n),
    multiplyFractions(smallerFraction(side0, side1), invertFraction(sum)),
  );
}

export function wholeTokens(balance: Fraction | null, decimals: number | null): Fraction | null {
  if (decimals === null || balance === null) return null;
  return { numerator: balance.numerator, denominator: balance.denominator * 10n ** BigInt(decimals) };
}

/** Null: unknown. Nothing is worth nothing at any price. */
export function worth(amount: Fraction | null, price: Fraction | null): Fraction | null {
  if (amount?.numerator === 0n) return wholeFraction(0n);
  return amount === null || price === null ? null : multiplyFractions(amount, price);
}
