import { address, blockTime, int8, logPlace, uint256 } from '@chainstead/db/column-types';
import { LOCAL, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
import { numeric } from 'drizzle-orm/pg-core';

/** Aggregators of all feeds: `price_feed_phases` has the known ones. */
export const feedAnswers = storedTable(
  'feed_answers',
  {
    aggregator: address('aggregator').notNull(),
    ...logPlace(),
    blockNumber: int8('block_number').notNull(),
    round: uint256('round').notNull(),
    /** In units of the feed's decimals. Signed. */
    answer: numeric('answer', { precision: 78, scale: 0 }).notNull(),
    /** As the event claims. */
    updatedAt: blockTime('updated_at').notNull(),
  },
  { writes: 'append', placement: LOCAL, key: ['aggregator', ...LOG_PLACE] },
);

/** `round` and `answer` are decimal digits. */
export type FeedAnswerRow = Readonly<typeof feedAnswers.$inferSelect>;

/** Last swap per block and pool (chains/ether-price.ts). */
export const poolPrices = storedTable(
  'pool_prices',
  {
    pool: address('pool').notNull(),
    ...logPlace(),
    blockNumber: int8('block_number').notNull(),
    sqrtPriceX96: uint256('sqrt_price_x96').notNull(),
    blockTimestamp: blockTime('block_timestamp').notNull(),
  },
  { writes: 'append', placement: LOCAL, key: ['pool', 'chainId', 'blockNumber'] },
);

export type PoolPriceRow = Readonly<typeof poolPrices.$inferSelect>;
