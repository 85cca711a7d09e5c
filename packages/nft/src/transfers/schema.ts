/**
 * NFT transfers, one row for each token that moves, and what they add up to for wallets that were asked about. Transfers lie by
 * contract, with an index for each side; what a wallet holds lies by wallet.
 *
 * Transfers are partitioned by range of (chain_id, block_number), which drizzle has no words for: the migration says it, and the sync
 * engine makes the partitions. Hash and time of a row's block are in `blocks` (docs/storage-layout.md).
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, bytea, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import type { MalformedReason, NftTransferKind } from '@chainstead/token-events';
import { sql } from 'drizzle-orm';
import { bigint, index, integer, numeric, pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: nothing is lost to alignment.
export const nftTransfers = pgTable(
  'nft_transfers',
  {
    /** Of `token_address` (`addressKey`): what the indexes begin with, and the distribution column on Citus. Contracts may share one. */
    collectionKey: int8Text('collection_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** A log has one contract, so the key is exact for two contracts of one `collection_key` too. */
    logIndex: integer('log_index').notNull(),
    /** Place within its log: batches and consecutive mints move several tokens. From 0. */
    item: integer('item').notNull(),
    /** Which event: NFT_TRANSFER_KINDS of token-events. */
    kind: smallint('kind').$type<NftTransferKind>().notNull(),
    tokenAddress: address('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    /** Last id of a consecutive mint that is not expanded, being too large or one too many of its block; such a row enters no balance. Else null. */
    lastTokenId: uint256('last_token_id'),
    fromAddress: address('from_address').notNull(),
    toAddress: address('to_address').notNull(),
    /** 1 for what can't be divided. */
    amount: uint256('amount').notNull(),
    /** Who moved it, where the event says so (ERC-1155). */
    operator: address('operator'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'nft_transfers_pkey',
      columns: [
        table.collectionKey,
        table.chainId,
        table.blockNumber,
        table.transactionIndex,
        table.logIndex,
        table.item,
      ],
    }),
    // The chain is the partition's. Four bytes tell a collection's ids apart, and who looks for one compares all of it too.
    index('nft_transfers_by_token').on(
      table.collectionKey,
      sql`token_id_key(token_id)`,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.item,
    ),
    // Mints of ranges that are not expanded: who asks for one id looks into all of its collection's. By an expression that no other index
    // has: few rows have ranges, and a planner without statistics would take an index of all rows for as good.
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

/** One token, or an amount of one, that moved. Hexadecimal text is lower case. */
export type NftTransferRow = Readonly<typeof nftTransfers.$inferSelect>;

/** Logs of NFT events that could not be read, by contract: counted, never fatal. */
export const nftMalformedLogs = pgTable(
  'nft_malformed_logs',
  {
    tokenAddress: address('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    /** Why: MALFORMED_REASONS of token-events. */
    reason: smallint('reason').$type<MalformedReason>().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tokenAddress, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    blockRangeIndex('nft_malformed_logs', table),
  ],
);

/** A log that names an event of NFTs and could not be read. */
export type NftMalformedLogRow = Readonly<typeof nftMalformedLogs.$inferSelect>;

/**
 * Of wallets that somebody asked about (`nft-wallet-tokens` in `kept_subjects`): what they have of each token. Of ERC-1155 it is what they received and
 * gave, added up: negative while history is incomplete, or for a contract that lies. Zero for what they had. Unbounded numeric: a lying contract
 * may overflow 256 bits.
 */
export const nftWalletTokens = pgTable(
  'nft_wallet_tokens',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenAddress: bytea('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    amount: numeric('amount').notNull(),
    /** Block of the newest transfer that changed it; -1 where only transfers to oneself tell of it. */
    lastBlock: integer('last_block').notNull(),
    /**
     * Of an id that is one thing: place of the newest transfer that the wallet is a side of (`transfers/moved-amounts.ts`), odd where it received,
     * whose amount is 1; null for ERC-1155.
     */
    newest: int8Text('newest'),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.chainId, table.tokenAddress, table.tokenId] }),
    // Newest change first, as its pages are.
    index('nft_wallet_tokens_by_change')
      .on(table.wallet, table.chainId, table.lastBlock, table.tokenAddress, table.tokenId)
      .where(sql`amount > 0`),
    // ERC-1155 of which nothing is left by what is known: of a wallet whose beginning is not indexed some may be.
    index('nft_wallet_tokens_given_by_change')
      .on(table.wallet, table.chainId, table.lastBlock, table.tokenAddress, table.tokenId)
      .where(sql`amount <= 0 AND newest IS NULL`),
    // The same by contract, as pages of collections are.
    index('nft_wallet_tokens_given_by_contract')
      .on(table.wallet, table.chainId, table.tokenAddress, table.tokenId)
      .where(sql`amount <= 0 AND newest IS NULL`),
  ],
);

/** Of the same wallets: how many different ids of a contract they hold, which are amounts above zero. */
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
