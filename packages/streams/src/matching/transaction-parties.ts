import { type Address, type Hash, isAddress } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';

/** Who sent a transaction and to whom; null where the node does not say, and `to` for one that creates a contract. */
export interface TransactionParties {
  readonly hash: Hash;
  readonly from: Address | null;
  readonly to: Address | null;
}

/** A transaction or its receipt, as the node answered it. */
export type RawTransaction = Readonly<Record<string, unknown>>;

/** Calls for each transaction in the block's order: with its transaction object, or else with its receipt. */
export function visitTransactions(block: WatchedBlock, visit: (hash: Hash, raw: RawTransaction) => void): void {
  const { transactions, transactionHashes } = block.block;
  if (transactions === null) for (const { transactionHash, raw } of block.receipts) visit(transactionHash, raw);
  else for (const [index, raw] of transactions.entries()) visit(transactionHashes[index] as Hash, raw);
}

/** The parties of each transaction in the block's order. */
export function transactionParties(block: WatchedBlock): TransactionParties[] {
  const parties: TransactionParties[] = [];
  visitTransactions(block, (hash, raw) => void parties.push({ hash, ...partiesOf(raw) }));
  return parties;
}

export function partiesOf(raw: RawTransaction): Pick<TransactionParties, 'from' | 'to'> {
  return { from: address(raw.from), to: address(raw.to) };
}

function address(value: unknown): Address | null {
  return isAddress(value) ? (value.toLowerCase() as Address) : null;
}
