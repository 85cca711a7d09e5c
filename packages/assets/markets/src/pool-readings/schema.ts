import { address, chainId, hexadecimal, int8, int8Text, moment } from '@chainstead/db/column-types';
import { distributedBy, LOCAL, storedTable } from '@chainstead/db/table-storage';
import { index, integer, numeric } from 'drizzle-orm/pg-core';

/** State at the end of a block, by calls at its hash. A reorg of the block deletes it. */
export const poolReadings = storedTable(
  'pool_readings',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: chainId(),
    blockNumber: integer('block_number').notNull(),
    /** Null: a pool with reserves. */
    tick: integer('tick'),
    /** Unix seconds since which readings show about the same price and depth. */
    stoodSince: int8('stood_since').notNull(),
    pool: hexadecimal('pool').notNull(),
    /** Base units; null: not a pool with reserves. */
    reserve0: numeric('reserve0'),
    reserve1: numeric('reserve1'),
    /** √(token 1 per token 0 in base units) · 2^96; null: not a concentrated pool. */
    sqrtPriceX96: numeric('sqrt_price_x96'),
    liquidity: numeric('liquidity'),
  },
  {
    writes: 'append',
    placement: distributedBy('pool', 'pool_key'),
    key: ['poolKey', 'chainId', 'blockNumber', 'pool'],
    hasOwnBlockIndex: true,
    indexes: (table) => [index('pool_readings_by_block').on(table.chainId, table.blockNumber)],
  },
);

/** Tokens that were looked up at factories. A reorg of the block deletes the row. */
export const poolLookups = storedTable(
  'pool_lookups',
  {
    token: address('token').notNull(),
    chainId: chainId(),
    blockNumber: integer('block_number').notNull(),
    lookedUpAt: moment('looked_up_at').notNull().defaultNow(),
  },
  {
    writes: 'queue',
    placement: LOCAL,
    key: ['token', 'chainId'],
    indexes: (table) => [
      index('pool_lookups_by_block').on(table.chainId, table.blockNumber),
      index('pool_lookups_by_time').on(table.chainId, table.lookedUpAt),
    ],
  },
);
