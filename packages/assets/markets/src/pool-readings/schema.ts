import { address, hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy, LOCAL } from '@chainstead/db/table-storage';
import { bigint, index, integer, numeric, pgTable, primaryKey, timestamp } from 'drizzle-orm/pg-core';

/** State at the end of a block, by calls at its hash. A reorg of the block deletes it. */
export const poolReadings = pgTable(
  'pool_readings',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    /** Null: a pool with reserves. */
    tick: integer('tick'),
    /** Unix seconds since which readings show about the same price and depth. */
    stoodSince: bigint('stood_since', { mode: 'number' }).notNull(),
    pool: hexadecimal('pool').notNull(),
    /** Base units; null: not a pool with reserves. */
    reserve0: numeric('reserve0'),
    reserve1: numeric('reserve1'),
    /** √(token 1 per token 0 in base units) · 2^96; null: not a concentrated pool. */
    sqrtPriceX96: numeric('sqrt_price_x96'),
    liquidity: numeric('liquidity'),
  },
  (table) => [
    primaryKey({ columns: [table.poolKey, table.chainId, table.blockNumber, table.pool] }),
    index('pool_readings_by_block').on(table.chainId, table.blockNumber),
  ],
);

declareStorage(poolReadings, { writes: 'append', placement: distributedBy('pool', 'pool_key') });

/** Tokens that were looked up at factories. A reorg of the block deletes the row. */
export const poolLookups = pgTable(
  'pool_lookups',
  {
    token: address('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    lookedUpAt: timestamp('looked_up_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.token, table.chainId] }),
    index('pool_lookups_by_block').on(table.chainId, table.blockNumber),
    index('pool_lookups_by_time').on(table.chainId, table.lookedUpAt),
  ],
);

declareStorage(poolLookups, { writes: 'queue', placement: LOCAL });
