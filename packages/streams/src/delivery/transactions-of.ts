import type { Hash } from '@chainstead/core';
import type { Attempt } from './delivery.ts';

const TRANSACTION_HASH = /"(?:transactionHash|hash)":"(0x[0-9a-f]{64})"/g;

/** Transactions that a body tells of. By its text, as parsing all that is sent would cost more than sending it. */
export function transactionsOf({ body, delivery }: Attempt): ReadonlySet<Hash> {
  const hashes = new Set<Hash>();
  for (const [, hash] of body.matchAll(TRANSACTION_HASH)) hashes.add(hash as Hash);
  hashes.delete(delivery.blockHash);
  return hashes;
}
