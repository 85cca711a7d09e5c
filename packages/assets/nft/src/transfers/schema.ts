/**
 * NFT transfers, one row per token that moves, and the derived rows for requested wallets and collections. Transfers
 * are stored by contract, with an index for each side; holdings of a wallet are stored by wallet.
 *
 * Transfers are partitioned by range of (chain_id, block_number), as `declareStorage` defines: the sync engine creates
 * the partitions. Hash and time of a row's block are in `blocks` (docs/internals/storage-layouts.md).
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, bytea, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import type { MalformedReason, NftTransferKind } from '@chainstead/events/token-events';
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, numeric, pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: no bytes are lost to alignment.
export const nftTransfers = pgTable(
  'nft_transfers',
  {
    /**
     * The `addressKey` of `token_address`: first column of the indexes, and distribution column on Citus. Contracts may
     * share one.
     */
    collectionKey: int8Text('collection_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** A log has one contract, so the key is also exact for two contracts with the same `collection_key`. */
    logIndex: integer('log_index').notNull(),
    /** Position within its log: batches and consecutive mints move several tokens. From 0. */
    item: integer('item').notNull(),
    /** The event: NFT_TRANSFER_KINDS of token-events. */
    kind: smallint('kind').$type<NftTransferKind>().notNull(),
    tokenAddress: address('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    /**
     * Last id of an unexpanded consecutive mint, which is too large or beyond its block's limit; such a row enters no
     * balance. Otherwise null.
     */
    lastTokenId: uint256('last_token_id'),
    fromAddress: address('from_address').notNull(),
    toAddress: address('to_address').notNull(),
    /** 1 for indivisible tokens. */
    amount: uint256('amount').notNull(),
    /** The account that moved it, if the event has it (ERC-1155). */
    operator: address('operator'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.collectionKey,
        table.chainId,
        table.blockNumber,
        table.transactionIndex,
        table.logIndex,
        table.item,
      ],
    }),
    // The partition determines the chain. Four bytes distinguish a collection's ids, and queries compare the whole id
    // too.
    index('nft_transfers_by_token').on(
      table.collectionKey,
      sql`token_id_key(token_id)`,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.item,
    ),
    // Mints of unexpanded ranges: a query for one id searches all of its collection's ranges. The expression is in no
    // other index: few rows have ranges, and a planner without statistics would consider an index of all rows as good.
    index('nft_transfers_by_range')
      .on(sql`address_key(token_address)`, table.blockNumber, table.transactionIndex, table.logIndex, table.item)
      .where(sql`last_token_id IS NOT NULL`),
    // Both sides of a wallet's transfers, newest last.
    index('nft_transfers_by_sender').on(
      sql`address_key(from_address)`,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.item,
    ),
    index('nft_transfers_by_recipient').on(
      sql`address_key(to_address)`,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.item,
    ),
    blockRangeIndex('nft_transfers', table, 'int4'),
  ],
);

declareStorage(nftTransfers, {
  writes: 'append',
  placement: distributedBy('collection', 'collection_key'),
  isPartitioned: true,
});

/** One token, or an amount of one, that moved. Hexadecimal text is lower case. */
export type NftTransferRow = Readonly<typeof nftTransfers.$inferSelect>;

/** Unreadable logs of NFT events, by contract: counted, never fatal. */
export const nftMalformedLogs = pgTable(
  'nft_malformed_logs',
  {
    tokenAddress: address('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    /** The reason: MALFORMED_REASONS of token-events. */
    reason: smallint('reason').$type<MalformedReason>().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tokenAddress, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    blockRangeIndex('nft_malformed_logs', table),
  ],
);

declareStorage(nftMalformedLogs, { writes: 'append', placement: distributedBy('contract', 'token_address') });

/** A log with the topic of an NFT event that could not be read. */
export type NftMalformedLogRow = Readonly<typeof nftMalformedLogs.$inferSelect>;

/**
 * Holdings of requested wallets (`nft-wallet-tokens` in `subject_projections`), by token. An ERC-1155 amount is the sum
 * of receipts minus transfers out: negative while history is incomplete, or if a contract's events are false. Zero for
 * former holdings. Unbounded numeric: false events may overflow 256 bits.
 */
export const nftWalletTokens = pgTable(
  'nft_wallet_tokens',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenAddress: bytea('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    amount: numeric('amount').notNull(),
    /** Block of the newest transfer that changed it; -1 if only transfers to oneself are known. */
    lastBlock: integer('last_block').notNull(),
    /**
     * For a single item: position of the wallet's newest transfer (`transfers/moved-amounts.ts`), odd if it received
     * it, with amount 1; null for ERC-1155.
     */
    newest: int8Text('newest'),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.chainId, table.tokenAddress, table.tokenId] }),
    // Newest change first, in page order.
    index('nft_wallet_tokens_by_change')
      .on(table.wallet, table.chainId, table.lastBlock, table.tokenAddress, table.tokenId)
      .where(sql`amount > 0`),
    // ERC-1155 without a known balance: if the start of the wallet's history is not indexed, some may be left.
    index('nft_wallet_tokens_given_by_change')
      .on(table.wallet, table.chainId, table.lastBlock, table.tokenAddress, table.tokenId)
      .where(sql`amount <= 0 AND newest IS NULL`),
    // The same by contract, in the page order of collections.
    index('nft_wallet_tokens_given_by_contract')
      .on(table.wallet, table.chainId, table.tokenAddress, table.tokenId)
      .where(sql`amount <= 0 AND newest IS NULL`),
  ],
);

declareStorage(nftWalletTokens, { writes: 'counter', placement: distributedBy('wallet', 'wallet') });

/** For the same wallets: the number of distinct ids held per contract, with amounts above zero. */
export const nftWalletCollections = pgTable(
  'nft_wallet_collections',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenAddress: bytea('token_address').notNull(),
    idsHeld: bigint('ids_held', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.wallet, table.chainId, table.tokenAddress] })],
);

declareStorage(nftWalletCollections, { writes: 'counter', placement: distributedBy('wallet', 'wallet') });

/**
 * Each owner's amount of each id: 1 for a single item that it received last, otherwise receipts minus transfers out;
 * zero for former holdings. Never the zero address.
 */
export const nftCollectionBalances = pgTable(
  'nft_collection_balances',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenId: uint256('token_id').notNull(),
    owner: bytea('owner').notNull(),
    amount: numeric('amount').notNull(),
    /** Block of the newest transfer that changed it; -1 if only transfers to oneself are known. */
    lastBlock: integer('last_block').notNull(),
    /**
     * Whether it is a sum, of ERC-1155: at zero or below the account may still hold some while the start is not
     * indexed.
     */
    isSum: boolean('is_sum').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId, table.owner] }),
    // Newest change first, in page order of owners.
    index('nft_collection_balances_by_change')
      .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId, table.owner)
      .where(sql`amount > 0`),
    // The owners of one id.
    index('nft_collection_balances_by_id')
      .on(table.tokenAddress, table.chainId, table.tokenId, table.lastBlock, table.owner)
      .where(sql`amount > 0`),
    // Those of both that need a state read while blocks of the collection are missing.
    index('nft_collection_balances_given_by_change')
      .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId, table.owner)
      .where(sql`amount <= 0 AND is_sum`),
    index('nft_collection_balances_given_by_id')
      .on(table.tokenAddress, table.chainId, table.tokenId, table.lastBlock, table.owner)
      .where(sql`amount <= 0 AND is_sum`),
  ],
);

declareStorage(nftCollectionBalances, { writes: 'counter', placement: distributedBy('contract', 'token_address') });

/** One row per id that ever moved. */
export const nftCollectionIds = pgTable(
  'nft_collection_ids',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenId: uint256('token_id').notNull(),
    /** 16 bytes: md5 of contract and id as text (`transfers/collection-owners.ts`). */
    tokenHash: bytea('token_hash').notNull(),
    /** Owners with an amount above zero. */
    holders: bigint('holders', { mode: 'number' }).notNull(),
    /** The total of all owners. */
    supply: numeric('supply').notNull(),
    /** Block of the newest transfer that changed a holding; -1 if only transfers to oneself are known. */
    lastBlock: integer('last_block').notNull(),
    /**
     * For a single item: position of its newest transfer (block, transaction, log, item), and its receiver; null for
     * ERC-1155.
     */
    newest: integer('newest').array(),
    receiver: bytea('receiver'),
    /** Whether it exists: it has a last receiver, or a holder with more than zero. */
    isHeld: boolean('is_held').generatedAlwaysAs(
      sql`CASE WHEN receiver IS NULL THEN holders > 0 ELSE receiver <> decode('0000000000000000000000000000000000000000', 'hex') END`,
    ),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId] }),
    index('nft_collection_ids_by_hash').on(table.tokenAddress, table.chainId, table.tokenHash).where(sql`is_held`),
    // ERC-1155 without a known holder: while blocks of the collection are missing, it may have one.
    index('nft_collection_ids_given_by_hash')
      .on(table.tokenAddress, table.chainId, table.tokenHash)
      .where(sql`NOT is_held AND receiver IS NULL`),
    // Newest change first, in page order of owners.
    index('nft_collection_ids_by_change')
      .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId)
      .where(sql`is_held`),
  ],
);

declareStorage(nftCollectionIds, { writes: 'counter', placement: distributedBy('contract', 'token_address') });

/** One row per present owner in the collection. */
export const nftCollectionOwners = pgTable(
  'nft_collection_owners',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    owner: bytea('owner').notNull(),
    /** Distinct ids with an amount above zero. */
    idsHeld: bigint('ids_held', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId, table.owner] })],
);

declareStorage(nftCollectionOwners, { writes: 'counter', placement: distributedBy('contract', 'token_address') });

/** The counts of a collection. */
export const nftCollectionCounts = pgTable(
  'nft_collection_counts',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Rows of `nft_transfers`. */
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
    /** Ids with a holder. */
    ids: bigint('ids', { mode: 'number' }).notNull(),
    owners: bigint('owners', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId] })],
);

declareStorage(nftCollectionCounts, { writes: 'counter', placement: distributedBy('contract', 'token_address') });
