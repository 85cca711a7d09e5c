import type { Hash, Receipt } from '@chainstead/core';
import { orderedTrieProof, orderedTrieRoot } from '../tries/ordered-trie.ts';
import { encodeReceipt } from './receipt-encoding.ts';
import { committedReceipts, type ReceiptsRootContext } from './receipts-root.ts';

interface ReceiptProof {
  /** Among the transactions that the header commits to. */
  readonly index: number;
  readonly nodes: readonly Buffer[];
}

/** Null if the whole block's receipts don't hash to `root`. @throws InvalidHexBytesError */
export function proveReceipts(
  receipts: readonly Receipt[],
  context: ReceiptsRootContext,
  root: Hash,
  transactions: readonly number[],
): ReadonlyMap<number, ReceiptProof> | null {
  const committed = committedReceipts(receipts, context);
  for (const bloom of ['given', 'computed'] as const) {
    const values = committed.map((receipt) => encodeReceipt(receipt, bloom));
    if (orderedTrieRoot(values) !== root) continue;
    return new Map(
      transactions.flatMap((wanted): (readonly [number, ReceiptProof])[] => {
        const index = committed.findIndex(({ transactionIndex }) => transactionIndex === wanted);
        return index < 0 ? [] : [[wanted, { index, nodes: orderedTrieProof(values, index) }]];
      }),
    );
  }
  return null;
}
