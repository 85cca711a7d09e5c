import type { Address } from '@chainstead/core';

/**
 * Returns an address key: the first four and last four bytes of an address as a signed 64-bit integer in decimal text.
 * Keys of large tables begin with it. Equal to `address_key(bytea)` in SQL. Two addresses may share one, so compare the
 * address too.
 *
 * Both ends are used, because addresses without a private key differ at one end only: `0x00…00` and `0x00…dead`, or
 * `0x42…06` and `0x00…06`.
 * @example addressKey('0x00000000000000000000000000000000000000ff') // '255'
 */
export function addressKey(address: Address): string {
  return BigInt.asIntN(64, BigInt(address.slice(0, 10) + address.slice(34))).toString();
}
