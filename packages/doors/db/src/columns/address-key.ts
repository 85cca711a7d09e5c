import type { Address } from '@chainstead/core';

/**
 * First and last four bytes as a signed integer; `address_key(bytea)` in SQL. Not unique.
 * @example addressKey('0x00000000000000000000000000000000000000ff') // '255'
 */
export function addressKey(address: Address): string {
  return BigInt.asIntN(64, BigInt(address.slice(0, 10) + address.slice(34))).toString();
}
