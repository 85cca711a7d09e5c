import type { Hash } from '@chainstead/core';

const DIGITS_END = 18;

/**
 * Returns the first eight bytes of a transaction's hash, as the decimal text of a signed 64-bit integer: the start of
 * the key of `transactions`. Two hashes may share it, so the hash must be compared as well.
 * @example transactionKey('0x00000000000000ff…') // '255'
 */
export function transactionKey(hash: Hash): string {
  return BigInt.asIntN(64, BigInt(hash.slice(0, DIGITS_END))).toString();
}
