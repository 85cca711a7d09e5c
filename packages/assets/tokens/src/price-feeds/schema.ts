import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, blockTime } from '@chainstead/db/column-types';
import { declareStorage, LOCAL } from '@chainstead/db/table-storage';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';

/** Aggregators of all feeds: `price_feed_phases` has the known ones. */
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
    /** As the event claims. */
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

/** `round` and `answer` are decimal digits. */
export type FeedAnswerRow = Readonly<typeof feedAnswers.$inferSelect>;

/** Last swap per block and pool (chains/ether-price.ts). */
export const poolPrices = pgTable(
  'pool_prices',
  {
    pool: address('pool').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    sqrtPriceX96: numeric('sqrt_price_x96', { precision: 78, scale: 0 }).notNull(),
    blockTimestamp: blockTime('block_timestamp').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.pool, table.chainId, table.blockNumber] }),
    blockRangeIndex('pool_prices', table),
  ],
);

declareStorage(poolPrices, { writes: 'append', placement: LOCAL });

export type PoolPriceRow = Readonly<typeof poolPrices.$inferSelect>;
