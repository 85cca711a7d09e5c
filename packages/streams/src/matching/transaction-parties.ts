import { type Address, type Hash, isAddress } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';

/** Who sent a transaction and to whom; null where the node does not say, and `to` for one that creates a contract. */
export interface TransactionParties {
  readonly hash: Hash;
  readonly from: Address | null;
  readonly to: Address | null;
}

/** The parties of each transaction in the block's order: from its transaction objects, or else from its receipts. */
export function transactionParties(block: WatchedBlock): TransactionParties[] {
  const { transactions, transactionHashes } = block.block;
  if (transactions === null)
    return block.receipts.map(({ transactionHash, raw }) => ({ hash: transactionHash, ...parties(raw) }));
  return transactions.map((raw, index) => ({ hash: transactionHashes[index] as Hash, ...parties(raw) }));
}

function parties(raw: Readonly<Record<string, unknown>>): Pick<TransactionParties, 'from' | 'to'> {
  return { from: address(raw.from), to: address(raw.to) };
}

function address(value: unknown): Address | null {
  return isAddress(value) ? (value.toLowerCase() as Address) : null;
}
