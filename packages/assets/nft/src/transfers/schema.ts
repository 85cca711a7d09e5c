/** One row per token that moves (docs/internals/storage-layouts.md). */
import { address, bytea, chainId, hash, int8, int8Text, logPlace, uint256 } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, logOrder, storedTable } from '@chainstead/db/table-storage';
import type { MalformedReason, NftTransferKind } from '@chainstead/events/token-events';
import { sql } from 'drizzle-orm';
import { boolean, index, integer, numeric, smallint } from 'drizzle-orm/pg-core';

// Fixed-width columns come first to avoid alignment padding.
export const nftTransfers = storedTable(
  'nft_transfers',
  {
    /** `addressKey` of `token_address`; distribution column on Citus. Contracts may share one. */
    collectionKey: int8Text('collection_key').notNull(),
    /** The position makes the key exact for contracts with the same `collection_key`. */
    ...logPlace(),
    item: integer('item').notNull(),
    /** NFT_TRANSFER_KINDS of token-events. */
    kind: smallint('kind').$type<NftTransferKind>().notNull(),
    tokenAddress: address('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    /** Last id of an unexpanded consecutive mint, which enters no balance; otherwise null. */
    lastTokenId: uint256('last_token_id'),
    fromAddress: address('from_address').notNull(),
    toAddress: address('to_address').notNull(),
    /** 1 for indivisible tokens. */
    amount: uint256('amount').notNull(),
    /** Null if the event has none (all but ERC-1155). */
    operator: address('operator'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('collection', 'collection_key'),
    isPartitioned: true,
    key: ['collectionKey', ...LOG_PLACE, 'item'],
    indexes: (table) => [
      // Four bytes distinguish a collection's ids: queries compare the whole id too.
      index('nft_transfers_by_token').on(
        table.collectionKey,
        sql`token_id_key(token_id)`,
        ...logOrder(table),
        table.item,
      ),
      // The expression is in no other index: without statistics, the planner would consider an index
      // of all rows as good.
      index('nft_transfers_by_range')
        .on(sql`address_key(token_address)`, ...logOrder(table), table.item)
        .where(sql`last_token_id IS NOT NULL`),
      index('nft_transfers_by_sender').on(sql`address_key(from_address)`, ...logOrder(table), table.item),
      index('nft_transfers_by_recipient').on(sql`address_key(to_address)`, ...logOrder(table), table.item),
    ],
  },
);

export type NftTransferRow = Readonly<typeof nftTransfers.$inferSelect>;

export const nftMalformedLogs = storedTable(
  'nft_malformed_logs',
  {
    tokenAddress: address('token_address').notNull(),
    ...logPlace(),
    blockNumber: int8('block_number').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    reason: smallint('reason').$type<MalformedReason>().notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('contract', 'token_address'),
    key: ['tokenAddress', ...LOG_PLACE],
  },
);

export type NftMalformedLogRow = Readonly<typeof nftMalformedLogs.$inferSelect>;

/**
 * ERC-1155: receipts minus transfers out, negative while history is incomplete or events are false
 * (unbounded, as these may overflow 256 bits). Zero for former holdings.
 */
export const nftWalletTokens = storedTable(
  'nft_wallet_tokens',
  {
    wallet: bytea('wallet').notNull(),
    chainId: chainId(),
    tokenAddress: bytea('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    amount: numeric('amount').notNull(),
    /** Newest change; -1 if only transfers to oneself are known. */
    lastBlock: integer('last_block').notNull(),
    /** Single items: position of the newest transfer, odd if received; null for ERC-1155. */
    newest: int8Text('newest'),
  },
  {
    writes: 'counter',
    placement: distributedBy('wallet', 'wallet'),
    key: ['wallet', 'chainId', 'tokenAddress', 'tokenId'],
    indexes: (table) => [
      index('nft_wallet_tokens_by_change')
        .on(table.wallet, table.chainId, table.lastBlock, table.tokenAddress, table.tokenId)
        .where(sql`amount > 0`),
      // ERC-1155: some may be left if the history's start is not indexed.
      index('nft_wallet_tokens_given_by_change')
        .on(table.wallet, table.chainId, table.lastBlock, table.tokenAddress, table.tokenId)
        .where(sql`amount <= 0 AND newest IS NULL`),
      index('nft_wallet_tokens_given_by_contract')
        .on(table.wallet, table.chainId, table.tokenAddress, table.tokenId)
        .where(sql`amount <= 0 AND newest IS NULL`),
    ],
  },
);

export const nftWalletCollections = storedTable(
  'nft_wallet_collections',
  {
    wallet: bytea('wallet').notNull(),
    chainId: chainId(),
    tokenAddress: bytea('token_address').notNull(),
    idsHeld: int8('ids_held').notNull(),
  },
  { writes: 'counter', placement: distributedBy('wallet', 'wallet'), key: ['wallet', 'chainId', 'tokenAddress'] },
);

/** 1 for a single item that it received last, else receipts minus transfers out. Zero: former. */
export const nftCollectionBalances = storedTable(
  'nft_collection_balances',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: chainId(),
    tokenId: uint256('token_id').notNull(),
    owner: bytea('owner').notNull(),
    amount: numeric('amount').notNull(),
    lastBlock: integer('last_block').notNull(),
    /** A sum, of ERC-1155: at zero or below some may be left while the start is not indexed. */
    isSum: boolean('is_sum').notNull().default(false),
  },
  {
    writes: 'counter',
    placement: distributedBy('contract', 'token_address'),
    key: ['tokenAddress', 'chainId', 'tokenId', 'owner'],
    indexes: (table) => [
      index('nft_collection_balances_by_change')
        .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId, table.owner)
        .where(sql`amount > 0`),
      index('nft_collection_balances_by_id')
        .on(table.tokenAddress, table.chainId, table.tokenId, table.lastBlock, table.owner)
        .where(sql`amount > 0`),
      // They need a state read while blocks are missing.
      index('nft_collection_balances_given_by_change')
        .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId, table.owner)
        .where(sql`amount <= 0 AND is_sum`),
      index('nft_collection_balances_given_by_id')
        .on(table.tokenAddress, table.chainId, table.tokenId, table.lastBlock, table.owner)
        .where(sql`amount <= 0 AND is_sum`),
    ],
  },
);

export const nftCollectionIds = storedTable(
  'nft_collection_ids',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: chainId(),
    tokenId: uint256('token_id').notNull(),
    /** 16 bytes: md5 of contract and id as text (`transfers/collection-owners.ts`). */
    tokenHash: bytea('token_hash').notNull(),
    holders: int8('holders').notNull(),
    supply: numeric('supply').notNull(),
    /** Newest change of a holding; -1 if only transfers to oneself are known. */
    lastBlock: integer('last_block').notNull(),
    /** Single items: newest transfer (block, transaction, log, item); null for ERC-1155. */
    newest: integer('newest').array(),
    receiver: bytea('receiver'),
    isHeld: boolean('is_held').generatedAlwaysAs(
      sql`CASE WHEN receiver IS NULL THEN holders > 0 ELSE receiver <> decode('0000000000000000000000000000000000000000', 'hex') END`,
    ),
  },
  {
    writes: 'counter',
    placement: distributedBy('contract', 'token_address'),
    key: ['tokenAddress', 'chainId', 'tokenId'],
    indexes: (table) => [
      index('nft_collection_ids_by_hash')
        .on(table.tokenAddress, table.chainId, table.tokenHash)
        .where(sql`is_held`),
      index('nft_collection_ids_given_by_hash')
        .on(table.tokenAddress, table.chainId, table.tokenHash)
        .where(sql`NOT is_held AND receiver IS NULL`),
      index('nft_collection_ids_by_change')
        .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId)
        .where(sql`is_held`),
    ],
  },
);

export const nftCollectionOwners = storedTable(
  'nft_collection_owners',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: chainId(),
    owner: bytea('owner').notNull(),
    idsHeld: int8('ids_held').notNull(),
  },
  {
    writes: 'counter',
    placement: distributedBy('contract', 'token_address'),
    key: ['tokenAddress', 'chainId', 'owner'],
  },
);

export const nftCollectionCounts = storedTable(
  'nft_collection_counts',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: chainId(),
    transfers: int8('transfers').notNull(),
    ids: int8('ids').notNull(),
    owners: int8('owners').notNull(),
  },
  { writes: 'counter', placement: distributedBy('contract', 'token_address'), key: ['tokenAddress', 'chainId'] },
);
