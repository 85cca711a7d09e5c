import { forgetWalletCounts } from '@chainstead/answers';
import type { ChainId } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import type { Dataset, WholeBlock } from '@chainstead/sync';
import { internalTransfersTable } from './row-table.ts';
import type { InternalTransferRow } from './schema.ts';

/** Coins that move inside transactions, of chains where an operator keeps them (`INTERNAL_TRANSFERS_<CHAIN>=all`). */
export const internalTransfers: Dataset<InternalTransferRow> = {
  name: 'internal-transfers',
  topics: () => [],
  table: internalTransfersTable,
  decode: () => [],
  wholeBlocks: {
    reads: ({ internalTransfers: kept }) => (kept === 'all' ? ['internalTransactions'] : []),
    decode: (block, { chain }) => transferRows(block, chain.id),
  },
  derived: [forgetWalletCounts('internal-transfers', ['account'])],
};

/** What was not reverted and moved something, by side. */
export function transferRows(
  { header, transactions, internalTransactions }: WholeBlock,
  chainId: ChainId,
): InternalTransferRow[] {
  const indexOf = new Map(transactions.map(({ hash, index }) => [hash, index]));
  const places = new Map<string, number>();
  return internalTransactions.flatMap(({ transactionHash, type, from, to, value, isReverted }) => {
    const traceIndex = places.get(transactionHash) ?? 0;
    places.set(transactionHash, traceIndex + 1);
    const transactionIndex = indexOf.get(transactionHash);
    if (isReverted || value === 0n || to === null || transactionIndex === undefined) return [];
    const shared = {
      chainId,
      blockNumber: header.number,
      transactionIndex,
      traceIndex,
      value: value.toString(),
      transactionHash,
      type,
    };
    const sideOf = (direction: 0 | 1 | 2): InternalTransferRow => {
      const [account, counterparty] = direction === 1 ? [to, from] : [from, to];
      return { ...shared, accountKey: addressKey(account), direction, account, counterparty };
    };
    return from === to ? [sideOf(2)] : [sideOf(0), sideOf(1)];
  });
}
