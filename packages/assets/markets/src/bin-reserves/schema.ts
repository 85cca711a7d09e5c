import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';

/** Net changes, one row per block and bin. Without fees that leave a pair apart from its bins. */
export const binChanges = pgTable(
  'bin_changes',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    bin: integer('bin').notNull(),
    pool: hexadecimal('pool').notNull(),
    /** Base units of X and Y into the bin; negative: out of it. */
    amount0: numeric('amount0').notNull(),
    amount1: numeric('amount1').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.blockNumber, table.bin, table.pool],
    }),
    blockRangeIndex('bin_changes', table, 'int4'),
  ],
);

declareStorage(binChanges, { writes: 'append', placement: distributedBy('pool', 'pool_key'), isPartitioned: true });

/** Numbers are decimal digits. */
export type BinChangeRow = Readonly<typeof binChanges.$inferSelect>;

/** Sums of `bin_changes`. Spans up to a block add up to the tokens in the bins, in few rows. */
export const binReserves = pgTable(
  'bin_reserves',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Width and first block of the span. Each change counts once for each width. */
    blocks: integer('blocks').notNull(),
    start: integer('start').notNull(),
    bin: integer('bin').notNull(),
    pool: hexadecimal('pool').notNull(),
    amount0: numeric('amount0').notNull(),
    amount1: numeric('amount1').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.blocks, table.start, table.bin, table.pool],
    }),
  ],
);

declareStorage(binReserves, { writes: 'counter', placement: distributedBy('pool', 'pool_key') });
