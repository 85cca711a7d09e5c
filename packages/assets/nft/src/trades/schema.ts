/**
 * One row per distinct token of a trade, with all of the trade; the first (`leads`) represents it
 * in lists (docs/internals/storage-layouts.md).
 */
import {
  address,
  blockTime,
  bytea,
  chainId,
  hash,
  int8,
  int8Text,
  logPlace,
  uint256,
} from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, logOrder, storedTable } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import { boolean, date, index, integer, numeric, smallint, text } from 'drizzle-orm/pg-core';
import type { TradeSide } from './marketplace.ts';

// Fixed-width columns come first to avoid alignment padding.
export const nftTrades = storedTable(
  'nft_trades',
  {
    /** `addressKey` of `token_address`; distribution column on Citus. Contracts may share one. */
    collectionKey: int8Text('collection_key').notNull(),
    /** Position of the fill event; of a matched group, of the order with the price. */
    ...logPlace(),
    /** From 0 in a log and `collection_key`: contracts of a bundle may share one. */
    item: integer('item').notNull(),
    /** Determines the day of a sale, also of rows whose block was just rolled back. */
    blockTimestamp: blockTime('block_timestamp').notNull(),
    side: smallint('side').$type<TradeSide>().notNull(),
    /** With more than one, or several tokens, it is a bundle without a price per token. */
    collections: smallint('collections').notNull(),
    leads: boolean('leads').notNull(),
    tokenAddress: address('token_address').notNull(),
    tokenId: uint256('token_id').notNull(),
    /** As in the event; null: only `token_id`. Beyond 64, only the leading row has all. */
    tokenIds: numeric('token_ids', { precision: 78, scale: 0 }).array().$type<readonly string[]>(),
    /** Per `token_ids`; null: one unit of the only id. */
    amounts: numeric('amounts', { precision: 78, scale: 0 }).array().$type<readonly string[]>(),
    marketplace: text('marketplace').notNull(),
    protocol: text('protocol').notNull(),
    marketplaceAddress: address('marketplace_address').notNull(),
    seller: address('seller').notNull(),
    buyer: address('buyer').notNull(),
    /** Null: the chain's native token. */
    paymentToken: address('payment_token'),
    /** Base units of the whole order, with fees; unbounded. Null: see `punk_bids`. */
    price: numeric('price'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('collection', 'collection_key'),
    isPartitioned: true,
    key: ['collectionKey', ...LOG_PLACE, 'item'],
    indexes: (table) => [
      // Four bytes distinguish a collection's ids: queries compare the whole id too.
      index('nft_trades_by_token').on(
        table.collectionKey,
        sql`token_id_key(token_id)`,
        ...logOrder(table),
        table.item,
      ),
      index('nft_trades_by_marketplace')
        .on(table.collectionKey, table.marketplace, ...logOrder(table), table.item)
        .where(sql`leads`),
      index('nft_trades_by_seller')
        .on(sql`address_key(seller)`, ...logOrder(table), table.item)
        .where(sql`leads`),
      index('nft_trades_by_buyer')
        .on(sql`address_key(buyer)`, ...logOrder(table), table.item)
        .where(sql`leads`),
    ],
  },
);

/** Ids, amounts and prices are decimal digits. */
export type NftTradeRow = Readonly<typeof nftTrades.$inferSelect>;

/** An accepted bid is the price of its sale, whichever is indexed first. */
export const punkBids = storedTable(
  'punk_bids',
  {
    tokenAddress: address('token_address').notNull(),
    chainId: chainId(),
    tokenId: uint256('token_id').notNull(),
    blockNumber: int8('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    bidder: address('bidder').notNull(),
    /** Wei. */
    value: uint256('value').notNull(),
    entered: boolean('entered').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('contract', 'token_address'),
    key: ['tokenAddress', 'chainId', 'tokenId', 'blockNumber', 'transactionIndex', 'logIndex'],
  },
);

/**
 * Sales of single tokens in `nft_trades` at a unit price above zero, for reads of few rows. Which
 * tokens count as ether is decided at read time.
 */
export const nftSaleDays = storedTable(
  'nft_sale_days',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: chainId(),
    /** −1: the whole collection. */
    tokenId: numeric('token_id').notNull(),
    /** The zero address: the chain's native token. */
    paymentToken: bytea('payment_token').notNull(),
    /** UTC. */
    day: date('day').notNull(),
    sales: int8('sales').notNull(),
    /** Sum of the unit prices. Base units. */
    total: numeric('total').notNull(),
    /** By unit price; of equal prices, the earliest. */
    lowest: uint256('lowest').notNull(),
    lowestBlock: int8('lowest_block').notNull(),
    lowestTransaction: integer('lowest_transaction').notNull(),
    lowestLog: integer('lowest_log').notNull(),
    lowestItem: integer('lowest_item').notNull(),
    highest: uint256('highest').notNull(),
    highestBlock: int8('highest_block').notNull(),
    highestTransaction: integer('highest_transaction').notNull(),
    highestLog: integer('highest_log').notNull(),
    highestItem: integer('highest_item').notNull(),
    latestBlock: int8('latest_block').notNull(),
    latestTransaction: integer('latest_transaction').notNull(),
    latestLog: integer('latest_log').notNull(),
    latestItem: integer('latest_item').notNull(),
  },
  {
    writes: 'counter',
    placement: distributedBy('contract', 'token_address'),
    key: ['tokenAddress', 'chainId', 'tokenId', 'paymentToken', 'day'],
  },
);
