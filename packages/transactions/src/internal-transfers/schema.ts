/**
 * Coins that moved inside transactions, one row for each *side*: the payer's and the receiver's, once where both are the same. From traces, which
 * nothing proves: they are checked against transactions that are.
 *
 * Partitioned by range of (chain_id, block_number), which drizzle has no words for: the migration says it, and the sync engine makes the
 * partitions. Hash and time of a row's block are in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { bigint, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: nothing is lost to alignment.
export const internalTransfers = pgTable(
  'internal_transfers',
  {
    /** Of `account` (`addressKey`): what the key begins with, and the distribution column on Citus. Accounts may share one. */
    accountKey: int8Text('account_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Its place among the calls of its transaction, in the order of execution. */
    traceIndex: integer('trace_index').notNull(),
    /** 0: account paid, 1: account received, 2: both. In the key for two accounts of one `account_key` in one transfer. */
    direction: smallint('direction').$type<0 | 1 | 2>().notNull(),
    /** Whose side this row is. */
    account: address('account').notNull(),
    counterparty: address('counterparty').notNull(),
    /** Wei, above zero. */
    value: uint256('value').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    /** CALL, CREATE, CREATE2 or SELFDESTRUCT. */
    type: text('type').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'internal_transfers_pkey',
      columns: [
        table.accountKey,
        table.chainId,
        table.blockNumber,
        table.transactionIndex,
        table.traceIndex,
        table.direction,
      ],
    }),
    blockRangeIndex('internal_transfers', table, 'int4'),
  ],
);

/** One side of one transfer. */
export type InternalTransferRow = Readonly<typeof internalTransfers.$inferSelect>;
