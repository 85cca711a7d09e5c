import type { Hash } from '@chainstead/core';
import { transactionKey } from '../stored/transaction-key.ts';

/**
 * The first eight bytes of a block's hash, as {@link transactionKey} has them of a transaction's: what the key of `block_headers` begins with. Two
 * hashes may share it, so the hash is to be compared as well.
 */
export function blockKey(hash: Hash): string {
  return transactionKey(hash);
}
