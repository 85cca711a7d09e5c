import { decimalAmount } from '@chainstead/core';

/** Unlimited in practice, as is the maximum of 96-bit tokens. */
const UNLIMITED_MIN = 2n ** 255n;
const UNLIMITED_OF_96_BITS = 2n ** 96n - 1n;

/** Null: unknown decimals. */
export function showAllowance(value: bigint, decimals: number | null): string | null {
  if (value >= UNLIMITED_MIN || value === UNLIMITED_OF_96_BITS) return 'unlimited';
  return decimals === null ? null : decimalAmount(value.toString(), decimals);
}
