import { decimalAmount } from '@chainstead/core';

/** From here on, and for the most that some tokens can hold, an allowance has no end that anybody will see. */
const UNLIMITED_MIN = 2n ** 255n;
const UNLIMITED_OF_96_BITS = 2n ** 96n - 1n;

/** An allowance for people: `unlimited`, or the exact amount; null while the decimals are not known. */
export function showAllowance(value: bigint, decimals: number | null): string | null {
  if (value >= UNLIMITED_MIN || value === UNLIMITED_OF_96_BITS) return 'unlimited';
  return decimals === null ? null : decimalAmount(value.toString(), decimals);
}
