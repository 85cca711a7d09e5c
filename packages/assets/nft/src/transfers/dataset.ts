import type { Address } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import {
  NFT_TRANSFER_KINDS,
  type NftTransfer,
  nftTransferTopics,
  readNftLogs,
} from '@chainstead/events/token-events';
import { forgetWalletCounts } from '@chainstead/pages';
import { type Dataset, defineTable, type MentionedContract } from '@chainstead/sync/datasets';
import { nftCollectionOwners } from './collection-owners.ts';
import { type NftTransferRow, nftTransfers as table } from './schema.ts';
import { nftHistories } from './wallet-history-filters.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

/** Self-transfers and zero amounts are rows too. Mints and burns have the zero address. */
export const nftTransfers: Dataset<NftTransferRow> = {
  name: 'nft-transfers',
  topics: nftTransferTopics,
  table: defineTable(table, {
    bulkIndexes: [
      'nft_transfers_by_token',
      'nft_transfers_by_range',
      'nft_transfers_by_sender',
      'nft_transfers_by_recipient',
    ],
  }),
  decode: (logs, context) => [...eachRow(logs, context)],
  eachRow,
  contracts,
  projections: [
    nftWalletTokens,
    nftCollectionOwners,
    forgetWalletCounts('nft-transfers', [table.fromAddress, table.toAddress]),
  ],
  histories: nftHistories,
};

function* eachRow(...[logs, context]: Parameters<Dataset['decode']>): Generator<NftTransferRow> {
  for (const read of readNftLogs(logs, context.chain))
    if (!('reason' in read)) yield toRow(read, context.chain.id);
}

function toRow(transfer: NftTransfer, chainId: number): NftTransferRow {
  const { item, kind, token, tokenId, lastTokenId, amount, operator } = transfer;
  const { blockNumber, transactionIndex, logIndex, transactionHash } = transfer.log;
  return {
    collectionKey: addressKey(token),
    ...{ chainId, blockNumber, transactionIndex, logIndex, item, kind },
    ...{ tokenAddress: token, tokenId, lastTokenId, fromAddress: transfer.from, toAddress: transfer.to },
    ...{ amount, operator, transactionHash },
  };
}

function* contracts(rows: readonly NftTransferRow[]): Generator<MentionedContract> {
  const seen = { erc721: new Set<Address>(), erc1155: new Set<Address>() };
  for (const { tokenAddress: address, kind } of rows) {
    const isErc1155 = kind === NFT_TRANSFER_KINDS.erc1155Single || kind === NFT_TRANSFER_KINDS.erc1155Batch;
    const standard = isErc1155 ? 'erc1155' : 'erc721';
    if (seen[standard].has(address)) continue;
    seen[standard].add(address);
    yield { address, standard };
  }
}
