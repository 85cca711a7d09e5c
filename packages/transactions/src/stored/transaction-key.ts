import type { Hash } from '@chainstead/core';

const DIGITS_END = 18;

/**
 * The first eight bytes of a transaction's hash, as the decimal text of a signed 64-bit integer: what the key of `transactions` begins with. Two
 * hashes may share it, so the hash is to be compared as well.
 * @example transactionKey('0x00000000000000ff…') // '255'
 */
export function transactionKey(hash: Hash): string {
  return BigInt.asIntN(64, BigInt(hash.slice(0, DIGITS_END))).toString();
}
