import { type Address, type Hash, isAddress, type Receipt } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';

/** Null if the node omits them; `to` is null for a contract creation. */
export interface TransactionParties {
  readonly hash: Hash;
  readonly from: Address | null;
  readonly to: Address | null;
}

export type RawTransaction = Readonly<Record<string, unknown>>;

/** In block order; with the receipt if there is no transaction object. */
export function visitTransactions(block: WatchedBlock, visit: (hash: Hash, raw: RawTransaction) => void): void {
  const { transactions, transactionHashes, header } = block.block;
  // Celo's block may have a separate receipt, which is of no transaction.
  const isOfTransaction = ({ transactionHash }: Receipt): boolean => transactionHash !== header.hash;
  if (transactions === null)
    for (const { transactionHash, raw } of block.receipts.filter(isOfTransaction)) visit(transactionHash, raw);
  else for (const [index, raw] of transactions.entries()) visit(transactionHashes[index] as Hash, raw);
}

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
