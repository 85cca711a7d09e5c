import type { Hash } from '@chainstead/core';
import { transactionKey } from '../stored/transaction-key.ts';

/**
 * Returns the first eight bytes of a block's hash, as {@link transactionKey} does for a transaction's: the start of the
 * key of `block_headers`. Two hashes may share it, so the hash must be compared as well.
 */
export function blockKey(hash: Hash): string {
  return transactionKey(hash);
}
