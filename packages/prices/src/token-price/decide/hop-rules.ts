import type { PricingRules } from '@chainstead/chains';
import type { Fraction } from '@chainstead/core';

const DECIMALS = 10n ** 6n;

/**
 * Returns the figures for both steps of a hop. Two steps that each stay within the square root of the jump limit stay within the limit together.
 * The root is rounded down to six decimals.
 */
export function hopRules(rules: PricingRules): PricingRules {
  return { ...rules, jumpLimit: rootOf(rules.jumpLimit) };
}

function rootOf({ numerator, denominator }: Fraction): Fraction {
  return { numerator: squareRoot((numerator * DECIMALS * DECIMALS) / denominator), denominator: DECIMALS };
}

/** Rounded down. Newton's method from above. */
function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = value;
  for (let next = (root + 1n) / 2n; next < root; next = (root + value / root) / 2n) root = next;
  return root;
}
