import type { Hash } from '@chainstead/core';

const DIGITS_END = 18;

/** First eight bytes as int64. Two hashes may share it: compare them too. */
export function transactionKey(hash: Hash): string {
  return BigInt.asIntN(64, BigInt(hash.slice(0, DIGITS_END))).toString();
}
