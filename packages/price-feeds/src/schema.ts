/** Prices in US dollars from the chain: Chainlink's answers, and swaps of ether/stablecoin pools. */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, blockTime, bytea } from '@chainstead/db/column-types';
import { declareStorage, LOCAL } from '@chainstead/db/table-storage';
import { bigint, boolean, integer, numeric, pgTable, primaryKey, smallint, text, timestamp } from 'drizzle-orm/pg-core';

/** Prices of Chainlink aggregators, of every feed: those of known feeds are in `price_feed_phases`. */
export const feedAnswers = pgTable(
  'feed_answers',
  {
    aggregator: address('aggregator').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    round: numeric('round', { precision: 78, scale: 0 }).notNull(),
    /** In units of the feed's decimals. Signed. */
    answer: numeric('answer', { precision: 78, scale: 0 }).notNull(),
    /** Named by the event, as by the feed's state. */
    updatedAt: blockTime('updated_at').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.aggregator, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    blockRangeIndex('feed_answers', table),
  ],
);

declareStorage(feedAnswers, { writes: 'append', placement: LOCAL });

/** One answer; `round` and `answer` are decimal digits. */
export type FeedAnswerRow = Readonly<typeof feedAnswers.$inferSelect>;

/**
 * `answer`: the feed's value. `silent`: the contract has decimals, and no value. `absent`: no feed at the address. `unavailable`: no node has the
 * state of the block.
 */
export type FeedReadingStatus = 'answer' | 'silent' | 'absent' | 'unavailable';

/** State of known feeds at the end of a block, read by its hash. A reorg of the block deletes them. */
export const feedReadings = pgTable(
  'feed_readings',
  {
    feed: bytea('feed').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    status: text('status').$type<FeedReadingStatus>().notNull(),
    /** The aggregator behind the proxy, its round and its value. Null without a value. */
    aggregator: bytea('aggregator'),
    round: numeric('round', { precision: 78, scale: 0 }),
    answer: numeric('answer', { precision: 78, scale: 0 }),
    /** Decimals of the feed in that block. */
    decimals: smallint('decimals'),
    /** Named by the feed. */
    updatedAt: timestamp('updated_at', { withTimezone: true }),
    readAt: timestamp('read_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.feed, table.chainId, table.blockNumber] })],
);

/** Aggregators behind a feed's proxy: from chain facts, from the proxy's events, and from calls of the proxy. */
export const priceFeedPhases = pgTable(
  'price_feed_phases',
  {
    feed: bytea('feed').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    aggregator: bytea('aggregator').notNull(),
    decimals: smallint('decimals').notNull(),
    /** Whether the feed is that of ether, for those who ask in SQL alone. */
    isEther: boolean('is_ether').notNull().default(false),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.feed, table.chainId, table.aggregator] })],
);

/**
 * What the chain's facts say of its native currency, plain and wrapped, and of bridged ether, for those who ask in SQL alone.
 * Written by the worker; the program itself reads the facts.
 */
export const paymentTokens = pgTable(
  'payment_tokens',
  {
    /** The zero address: the chain's native currency. */
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    symbol: text('symbol').notNull(),
    decimals: smallint('decimals').notNull(),
    /** Ether itself, or a token that stands for it one to one. */
    isEther: boolean('is_ether').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId] })],
);

/** The last swap of a block in each pool that prices ether (chains/ether-price.ts). */
export const poolPrices = pgTable(
  'pool_prices',
  {
    pool: address('pool').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    /** Uniswap v3's sqrtPriceX96. */
    sqrtPriceX96: numeric('sqrt_price_x96', { precision: 78, scale: 0 }).notNull(),
    blockTimestamp: blockTime('block_timestamp').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.pool, table.chainId, table.blockNumber] }),
    blockRangeIndex('pool_prices', table),
  ],
);

declareStorage(poolPrices, { writes: 'append', placement: LOCAL });

/** The last swap of a block in a pool. */
export type PoolPriceRow = Readonly<typeof poolPrices.$inferSelect>;
