import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import {
  CONSECUTIVE_TRANSFER_TOPIC,
  NFT_TRANSFER_KINDS,
  type NftTransfer,
  nftTransferTopics,
  PUNK_ASSIGN_TOPIC,
  PUNK_BOUGHT_TOPIC,
  PUNK_TRANSFER_TOPIC,
  readNftLogs,
  TRANSFER_BATCH_TOPIC,
  TRANSFER_SINGLE_TOPIC,
  TRANSFER_TOPIC,
  topicOf,
} from '@chainstead/events/token-events';
import { forgetWalletCounts } from '@chainstead/pages';
import {
  type Dataset,
  defineTable,
  type HistoryFilter,
  type MentionedContract,
  type SubjectHistories,
} from '@chainstead/sync/datasets';
import { nftCollectionOwners } from './collection-owners.ts';
import { type NftTransferRow, nftTransfers as table } from './schema.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

/** Contracts of `chain.unindexedNfts` are not found: their topics contain no parties. */
export const nftHistories: SubjectHistories = {
  ofWallet: (chain, wallet) => [...standardFilters(wallet), ...punkFilters(chain, wallet)],
  ofContract: (chain, contract) => [{ topics: nftTransferTopics(chain), addresses: [contract] }],
  wholeBlockContracts: (chain) => (chain.cryptoPunks === null ? [] : [chain.cryptoPunks]),
  // Which of them are expanded depends on the others of the block.
  wholeBlockTopics: () => [CONSECUTIVE_TRANSFER_TOPIC],
};

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

const PARTIES_LAST = [TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC, CONSECUTIVE_TRANSFER_TOPIC];

/** With topic 3: most nodes require four topics then, which excludes ERC-20. */
function standardFilters(wallet: Address): HistoryFilter[] {
  const itself = [topicOf(wallet)];
  return [
    { topics: [TRANSFER_TOPIC], indexed: [itself, null, null] },
    { topics: [TRANSFER_TOPIC, ...PARTIES_LAST], indexed: [null, itself, null] },
    { topics: PARTIES_LAST, indexed: [null, null, itself] },
  ];
}

/** The buyer of an accepted bid is only in the contract's own Transfer. */
function punkFilters(chain: Chain, wallet: Address): HistoryFilter[] {
  if (chain.cryptoPunks === null) return [];
  const itself = [topicOf(wallet)];
  const addresses = [chain.cryptoPunks];
  return [
    { topics: [TRANSFER_TOPIC, PUNK_ASSIGN_TOPIC, PUNK_TRANSFER_TOPIC], indexed: [itself], addresses },
    { topics: [TRANSFER_TOPIC, PUNK_TRANSFER_TOPIC, PUNK_BOUGHT_TOPIC], indexed: [null, itself], addresses },
    { topics: [PUNK_BOUGHT_TOPIC], indexed: [null, null, itself], addresses },
  ];
}
