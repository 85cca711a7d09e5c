/**
 * NFT trades, one row per distinct token of a trade, so that a token's and a collection's trades are each one range
 * scan. Every row repeats the trade's data; the first (`leads`) represents it in lists.
 *
 * Trades are partitioned by range of (chain_id, block_number), as `declareStorage` defines: the sync engine creates the
 * partitions. The hash of a row's block is in `blocks` (docs/internals/storage-layouts.md).
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, blockTime, bytea, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  date,
  index,
  integer,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
} from 'drizzle-orm/pg-core';
import type { TradeSide } from './marketplace.ts';

// Columns of fixed width come first: no bytes are lost to alignment.
export const nftTrades = pgTable(
  'nft_trades',
  {
    /**
     * The `addressKey` of `token_address`: first column of the indexes, and distribution column on Citus. Contracts may
     * share one.
     */
    collectionKey: int8Text('collection_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** The fill event; of a matched group, the order with the price. */
    logIndex: integer('log_index').notNull(),
    /**
     * Counts the rows of one log and `collection_key`, from 0: a bundle may contain contracts that were created to
     * share one.
     */
    item: integer('item').notNull(),
    /** Repeated from `blocks`: it determines the day of a sale, also for rows whose block was just rolled back. */
    blockTimestamp: blockTime('block_timestamp').notNull(),
    /** 0: a listing was bought, 1: an offer was accepted, 2: unknown. */
    side: smallint('side').$type<TradeSide>().notNull(),
    /**
     * Collections in the order. With more than one, or several tokens, it is a bundle, whose price is not that of one
     * token.
     */
    collections: smallint('collections').notNull(),
    /** True on the first row of each trade. */
    leads: boolean('leads').notNull(),
    tokenAddress: address('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    /**
     * All ids of this collection in the trade, in the event's order and with its repetitions; null: only `token_id`.
     * Beyond 64, only the leading row has all; the others have their own id and its neighbors.
     */
    tokenIds: numeric('token_ids', { precision: 78, scale: 0 }).array().$type<readonly string[]>(),
    /** Amounts of each of `token_ids`; null: one unit of the only id. */
    amounts: numeric('amounts', { precision: 78, scale: 0 }).array().$type<readonly string[]>(),
    /** The value for the API's `marketplace` filter: opensea, blur, looksrare, x2y2, 0xprotocol, cryptopunks, … */
    marketplace: text('marketplace').notNull(),
    /** The exact contract version: seaport-1.6, wyvern-2.3, … */
    protocol: text('protocol').notNull(),
    /** The contract that emitted the fill. */
    marketplaceAddress: address('marketplace_address').notNull(),
    seller: address('seller').notNull(),
    buyer: address('buyer').notNull(),
    /** Null: the chain's native token. */
    paymentToken: address('payment_token'),
    /**
     * Base units of the whole order, including fees and royalties; a sum, so unbounded. Null: an accepted Punk bid,
     * whose price is that of its bid (punk_bids).
     */
    price: numeric('price'),
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
    index('nft_trades_by_token').on(
      table.collectionKey,
      sql`token_id_key(token_id)`,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.item,
    ),
    index('nft_trades_by_marketplace')
      .on(table.collectionKey, table.marketplace, table.blockNumber, table.transactionIndex, table.logIndex, table.item)
      .where(sql`leads`),
    index('nft_trades_by_seller')
      .on(sql`address_key(seller)`, table.blockNumber, table.transactionIndex, table.logIndex, table.item)
      .where(sql`leads`),
    index('nft_trades_by_buyer')
      .on(sql`address_key(buyer)`, table.blockNumber, table.transactionIndex, table.logIndex, table.item)
      .where(sql`leads`),
    blockRangeIndex('nft_trades', table, 'int4'),
  ],
);

declareStorage(nftTrades, {
  writes: 'append',
  placement: distributedBy('collection', 'collection_key'),
  isPartitioned: true,
});

/** One token of one trade. Ids, amounts and prices are decimal digits. */
export type NftTradeRow = Readonly<typeof nftTrades.$inferSelect>;

/**
 * Bids for CryptoPunks, entered and withdrawn. An accepted bid is the price of its sale, whichever is indexed first.
 */
export const punkBids = pgTable(
  'punk_bids',
  {
    tokenAddress: address('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenId: uint256('token_id').notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    bidder: address('bidder').notNull(),
    /** Wei. */
    value: uint256('value').notNull(),
    /** False: the bid was withdrawn here. */
    entered: boolean('entered').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.tokenAddress,
        table.chainId,
        table.tokenId,
        table.blockNumber,
        table.transactionIndex,
        table.logIndex,
      ],
    }),
    blockRangeIndex('punk_bids', table),
  ],
);

declareStorage(punkBids, { writes: 'append', placement: distributedBy('contract', 'token_address') });

/** A bid for a punk, or its withdrawal. */
export type PunkBidRow = Readonly<typeof punkBids.$inferSelect>;

/**
 * Sales by token and day, so that prices of a token with any number of sales are read from a few rows. Derived from
 * `nft_trades`: trades of a single token at a unit price above zero. Which tokens count as ether is decided at read
 * time, so the rows depend on no chain facts.
 */
export const nftSaleDays = pgTable(
  'nft_sale_days',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** −1: the whole collection. */
    tokenId: numeric('token_id').notNull(),
    /** The zero address: the chain's native token. */
    paymentToken: bytea('payment_token').notNull(),
    /** UTC. */
    day: date('day').notNull(),
    sales: bigint('sales', { mode: 'number' }).notNull(),
    /** Sum of the unit prices. Base units. */
    total: numeric('total').notNull(),
    /** The sale with the lowest and with the highest unit price; of equal prices, the earliest. */
    lowest: uint256('lowest').notNull(),
    lowestBlock: bigint('lowest_block', { mode: 'number' }).notNull(),
    lowestTransaction: integer('lowest_transaction').notNull(),
    lowestLog: integer('lowest_log').notNull(),
    lowestItem: integer('lowest_item').notNull(),
    highest: uint256('highest').notNull(),
    highestBlock: bigint('highest_block', { mode: 'number' }).notNull(),
    highestTransaction: integer('highest_transaction').notNull(),
    highestLog: integer('highest_log').notNull(),
    highestItem: integer('highest_item').notNull(),
    latestBlock: bigint('latest_block', { mode: 'number' }).notNull(),
    latestTransaction: integer('latest_transaction').notNull(),
    latestLog: integer('latest_log').notNull(),
    latestItem: integer('latest_item').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId, table.paymentToken, table.day] }),
  ],
);

declareStorage(nftSaleDays, { writes: 'counter', placement: distributedBy('contract', 'token_address') });
