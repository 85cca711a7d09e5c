import type { Address } from '@chainstead/core';

/**
 * The first four and last four bytes of an address as a signed 64-bit integer in decimal text, as `address_key(bytea)` in
 * SQL. Keys of large tables begin with it. Two addresses may share one, so compare the address too. Addresses without a
 * private key differ at one end only: `0x00…00` and `0x00…dead`.
 * @example addressKey('0x00000000000000000000000000000000000000ff') // '255'
 */
export function addressKey(address: Address): string {
  return BigInt.asIntN(64, BigInt(address.slice(0, 10) + address.slice(34))).toString();
}
