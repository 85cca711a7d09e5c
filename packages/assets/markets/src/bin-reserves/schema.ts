import { chainId, hexadecimal, int8Text } from '@chainstead/db/column-types';
import { distributedBy, storedTable } from '@chainstead/db/table-storage';
import { integer, numeric } from 'drizzle-orm/pg-core';

/** Net changes, one row per block and bin. Without fees that leave a pair apart from its bins. */
export const binChanges = storedTable(
  'bin_changes',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: chainId(),
    blockNumber: integer('block_number').notNull(),
    bin: integer('bin').notNull(),
    pool: hexadecimal('pool').notNull(),
    /** Base units of X and Y into the bin; negative: out of it. */
    amount0: numeric('amount0').notNull(),
    amount1: numeric('amount1').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('pool', 'pool_key'),
    isPartitioned: true,
    key: ['poolKey', 'chainId', 'blockNumber', 'bin', 'pool'],
  },
);

/** Numbers are decimal digits. */
export type BinChangeRow = Readonly<typeof binChanges.$inferSelect>;

/** Sums of `bin_changes`. Spans up to a block add up to the tokens in the bins, in few rows. */
export const binReserves = storedTable(
  'bin_reserves',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: chainId(),
    /** Width and first block of the span. Each change counts once for each width. */
    blocks: integer('blocks').notNull(),
    start: integer('start').notNull(),
    bin: integer('bin').notNull(),
    pool: hexadecimal('pool').notNull(),
    amount0: numeric('amount0').notNull(),
    amount1: numeric('amount1').notNull(),
  },
  {
    writes: 'counter',
    placement: distributedBy('pool', 'pool_key'),
    key: ['poolKey', 'chainId', 'blocks', 'start', 'bin', 'pool'],
  },
);
