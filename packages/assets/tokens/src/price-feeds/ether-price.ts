/** Exact fractions: divisions happen once, for display. */
import type { EtherPool } from '@chainstead/chains';
import { cents, type Fraction } from '@chainstead/core';

const ETHER_DECIMALS = 18;
const WEI = 10n ** BigInt(ETHER_DECIMALS);
const Q192 = 2n ** 192n;

/** US dollars per ether; null for zero or below. @param answer decimal digits, signed */
export function priceOfAnswer(answer: string, decimals: number): Fraction | null {
  const numerator = BigInt(answer);
  return numerator > 0n ? { numerator, denominator: 10n ** BigInt(decimals) } : null;
}

/** (sqrtPriceX96 / 2^96)^2 base units of token1 per token0. @param sqrtPriceX96 decimal digits */
export function priceOfPool(sqrtPriceX96: string, pool: EtherPool): Fraction {
  const squared = BigInt(sqrtPriceX96) ** 2n;
  const [numerator, denominator] = pool.etherIs === 'token0' ? [squared, Q192] : [Q192, squared];
  return { numerator: numerator * WEI, denominator: denominator * 10n ** BigInt(pool.dollarDecimals) };
}

/** US dollars with two decimals, halves rounded up. @param wei decimal digits */
export function dollarsOf(wei: string, price: Fraction): string {
  return cents({ numerator: BigInt(wei) * price.numerator, denominator: WEI * price.denominator });
}
