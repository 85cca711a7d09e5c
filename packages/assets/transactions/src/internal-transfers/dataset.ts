import type { ChainId } from '@chainstead/core';
import { addressKey, DIRECTION, type Direction } from '@chainstead/db/column-types';
import { forgetWalletCounts } from '@chainstead/pages';
import { type Dataset, defineTable, type WholeBlock } from '@chainstead/sync/datasets';
import { type InternalTransferRow, internalTransfers as table } from './schema.ts';

export const internalTransfers: Dataset<InternalTransferRow> = {
  name: 'internal-transfers',
  topics: () => [],
  table: defineTable(table),
  decode: () => [],
  wholeBlocks: {
    reads: ({ internalTransfers: kept }) => (kept === 'all' ? ['internalTransactions'] : []),
    decode: (block, { chain }) => transferRows(block, chain.id),
  },
  projections: [forgetWalletCounts('internal-transfers', [table.account])],
};

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
    const place = { chainId, blockNumber: header.number, transactionIndex, traceIndex };
    const shared = { ...place, value: value.toString(), transactionHash, type };
    const sideOf = (direction: Direction): InternalTransferRow => {
      const [account, counterparty] = direction === DIRECTION.received ? [to, from] : [from, to];
      return { ...shared, accountKey: addressKey(account), direction, account, counterparty };
    };
    return from === to ? [sideOf(DIRECTION.self)] : [sideOf(DIRECTION.sent), sideOf(DIRECTION.received)];
  });
}
