import type { PricingRules } from '@chainstead/chains/pricing-rules';

const DECIMALS = 10n ** 6n;

/** Steps within √limit (rounded down) stay within the limit together. */
export function hopRules(rules: PricingRules): PricingRules {
  const { numerator, denominator } = rules.jumpLimit;
  const root = squareRoot((numerator * DECIMALS * DECIMALS) / denominator);
  return { ...rules, jumpLimit: { numerator: root, denominator: DECIMALS } };
}

function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = value;
  for (let next = (root + 1n) / 2n; next < root; next = (root + value / root) / 2n) root = next;
  return root;
}
