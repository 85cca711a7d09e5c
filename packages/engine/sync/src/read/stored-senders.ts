import type { Chain } from '@chainstead/chains';
import type { Block, Receipt } from '@chainstead/core';
import { committedTransactions, type TransactionJson } from '@chainstead/proof';
import type { StoresSender } from '../dataset/whole-block.ts';

/** Committed transactions whose sender is stored: recovering one takes longer than proving all else of it. */
export function withStoredSenders(
  { header, transactions, transactionHashes }: Block,
  receipts: readonly Receipt[],
  chain: Chain,
  storesSender: StoresSender = () => true,
): readonly TransactionJson[] {
  const hashes = new Set<string | undefined>(
    receipts.flatMap(({ logs, transactionHash }) => (storesSender(logs) ? transactionHash : [])),
  );
  const stored = (transactions ?? []).filter((_, index) => hashes.has(transactionHashes[index]));
  return committedTransactions(header, stored, chain);
}
