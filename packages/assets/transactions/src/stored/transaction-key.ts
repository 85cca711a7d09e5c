import type { Hash } from '@chainstead/core';

const DIGITS_END = 18;

/** First eight bytes as a signed 64-bit integer in decimal. Two hashes may share it: compare the hash too. */
export function transactionKey(hash: Hash): string {
  return BigInt.asIntN(64, BigInt(hash.slice(0, DIGITS_END))).toString();
}
