import type { Address } from '@chainstead/core';

/**
 * The eight bytes of an address that keys of large tables begin with, as the decimal text of a signed 64-bit integer: its first
 * four and its last four. The same as `address_key(bytea)` in SQL. Two addresses may share one, so the address is to be compared as well.
 *
 * Of both ends, since addresses that nobody has a key of differ at one end only: `0x00…00` and `0x00…dead`, or `0x42…06` and `0x00…06`.
 * @example addressKey('0x00000000000000000000000000000000000000ff') // '255'
 */
export function addressKey(address: Address): string {
  return BigInt.asIntN(64, BigInt(address.slice(0, 10) + address.slice(34))).toString();
}
