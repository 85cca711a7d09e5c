import { hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';

/** Liquidity changes by tick and span. Spans up to a block add up to its positions, in few rows. */
export const tickLiquidity = pgTable(
  'tick_liquidity',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Width and first block of the span. Each change counts once for each width. */
    blocks: integer('blocks').notNull(),
    start: integer('start').notNull(),
    tick: integer('tick').notNull(),
    pool: hexadecimal('pool').notNull(),
    /** Signed, as the price rises across the tick. */
    net: numeric('net').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.blocks, table.start, table.tick, table.pool],
    }),
  ],
);

declareStorage(tickLiquidity, { writes: 'counter', placement: distributedBy('pool', 'pool_key') });
