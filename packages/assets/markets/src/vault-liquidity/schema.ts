/** Liquidity of pools at pool managers, from which the tokens that each of them holds follow. */
import { hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';

/**
 * Sums of liquidity changes of pools at pool managers by tick and span of blocks. Rows of all spans up to a block are the pool's positions
 * there, so a price reads few rows, whatever the number of changes.
 */
export const tickLiquidity = pgTable(
  'tick_liquidity',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Width and first block of the span. Each change counts once for each width. */
    blocks: integer('blocks').notNull(),
    start: integer('start').notNull(),
    tick: integer('tick').notNull(),
    /** The pool's id. */
    pool: hexadecimal('pool').notNull(),
    /** Signed change of the liquidity in range when the price rises across the tick. */
    net: numeric('net').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.blocks, table.start, table.tick, table.pool],
    }),
  ],
);

declareStorage(tickLiquidity, { writes: 'counter', placement: distributedBy('pool', 'pool_key') });
