/**
 * The price of one ether in US dollars as an exact fraction: divisions happen once, at the end, on what is shown.
 */
import type { EtherPool } from '@chainstead/chains';

/** Dollars per ether: numerator / denominator, both above zero. */
export interface EtherPrice {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const ETHER_DECIMALS = 18;
const WEI = 10n ** BigInt(ETHER_DECIMALS);
const Q192 = 2n ** 192n;

/** Of a feed's answer; null where the answer is no price (zero or below). @param answer decimal digits, perhaps signed */
export function priceOfAnswer(answer: string, decimals: number): EtherPrice | null {
  const numerator = BigInt(answer);
  return numerator > 0n ? { numerator, denominator: 10n ** BigInt(decimals) } : null;
}

/**
 * Of a pool's price: (sqrtPriceX96 / 2^96)^2 base units of token1 for one of token0.
 * @param sqrtPriceX96 decimal digits, above zero
 */
export function priceOfPool(sqrtPriceX96: string, pool: EtherPool): EtherPrice {
  const squared = BigInt(sqrtPriceX96) ** 2n;
  const [numerator, denominator] = pool.etherIs === 'token0' ? [squared, Q192] : [Q192, squared];
  return { numerator: numerator * WEI, denominator: denominator * 10n ** BigInt(pool.dollarDecimals) };
}

/** What an amount of ether is worth, in dollars with two decimals, halves rounded up. @param wei decimal digits */
export function dollarsOf(wei: string, price: EtherPrice): string {
  const numerator = BigInt(wei) * price.numerator * 100n;
  const denominator = WEI * price.denominator;
  const cents = (2n * numerator + denominator) / (2n * denominator);
  const digits = cents.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
