/** Tokens in the bins of Liquidity Book pairs, from which the depth of their prices follows. */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';

/** Net changes of the tokens in each bin of a pair, one row per block and bin. Fees that leave a pair apart from its bins are not in them. */
export const binChanges = pgTable(
  'bin_changes',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    bin: integer('bin').notNull(),
    /** Address of the pair. */
    pool: hexadecimal('pool').notNull(),
    /** Base units of token X and token Y into the bin; negative out of it. */
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

/** Net change of a bin in a block. Numbers are decimal digits. */
export type BinChangeRow = Readonly<typeof binChanges.$inferSelect>;

/** Sums of `bin_changes` by bin and span of blocks. Rows of all spans up to a block are the tokens in the bins there, so a price reads few rows. */
export const binReserves = pgTable(
  'bin_reserves',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Width and first block of the span. Each change counts once for each width. */
    blocks: integer('blocks').notNull(),
    start: integer('start').notNull(),
    bin: integer('bin').notNull(),
    /** Address of the pair. */
    pool: hexadecimal('pool').notNull(),
    /** Base units of token X and token Y into the bin in the span. */
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
