import { chainId, hexadecimal, int8Text } from '@chainstead/db/column-types';
import { distributedBy, storedTable } from '@chainstead/db/table-storage';
import { integer, numeric } from 'drizzle-orm/pg-core';

/** Liquidity changes by tick and span. Spans up to a block add up to its positions, in few rows. */
export const tickLiquidity = storedTable(
  'tick_liquidity',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: chainId(),
    /** Width and first block of the span. Each change counts once for each width. */
    blocks: integer('blocks').notNull(),
    start: integer('start').notNull(),
    tick: integer('tick').notNull(),
    pool: hexadecimal('pool').notNull(),
    /** Signed, as the price rises across the tick. */
    net: numeric('net').notNull(),
  },
  {
    writes: 'counter',
    placement: distributedBy('pool', 'pool_key'),
    key: ['poolKey', 'chainId', 'blocks', 'start', 'tick', 'pool'],
  },
);
