import { forgetWalletCounts } from '@chainstead/answers';
import type { Address } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import { type Dataset, defineTable, type MentionedContract } from '@chainstead/sync';
import {
  NFT_TRANSFER_KINDS,
  type NftTransfer,
  type NftTransferKind,
  nftTransferTopics,
  readNftLogs,
} from '@chainstead/token-events';
import { nftCollectionOwners } from './collection-owners.ts';
import { type NftTransferRow, nftTransfers as table } from './schema.ts';
import { nftHistories } from './wallet-history-filters.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

/**
 * NFT transfers, one row for each token that moves; mints and burns have the zero address on their open side. Self-transfers
 * and amounts of zero are rows like all others. What the rows add up to, balances and holdings, is kept beside them.
 */
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
    isPartitioned: true,
  }),
  decode: (logs, context) => [...eachRow(logs, context)],
  eachRow,
  contracts,
  derived: [nftWalletTokens, nftCollectionOwners, forgetWalletCounts('nft-transfers', ['from_address', 'to_address'])],
  histories: nftHistories,
};

function* eachRow(...[logs, context]: Parameters<Dataset['decode']>): Generator<NftTransferRow> {
  for (const read of readNftLogs(logs, context.chain)) if (!('reason' in read)) yield toRow(read, context.chain.id);
}

function toRow(transfer: NftTransfer, chainId: number): NftTransferRow {
  const { log } = transfer;
  return {
    collectionKey: addressKey(transfer.token),
    chainId,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    item: transfer.item,
    kind: transfer.kind,
    tokenAddress: transfer.token,
    tokenId: transfer.tokenId,
    lastTokenId: transfer.lastTokenId,
    fromAddress: transfer.from,
    toAddress: transfer.to,
    amount: transfer.amount,
    operator: transfer.operator,
    transactionHash: log.transactionHash,
  };
}

function* contracts(rows: readonly NftTransferRow[]): Generator<MentionedContract> {
  const seen = { erc721: new Set<Address>(), erc1155: new Set<Address>() };
  for (const { tokenAddress: address, kind } of rows) {
    const standard = isErc1155(kind) ? 'erc1155' : 'erc721';
    if (seen[standard].has(address)) continue;
    seen[standard].add(address);
    yield { address, standard };
  }
}

function isErc1155(kind: NftTransferKind): boolean {
  return kind === NFT_TRANSFER_KINDS.erc1155Single || kind === NFT_TRANSFER_KINDS.erc1155Batch;
}
