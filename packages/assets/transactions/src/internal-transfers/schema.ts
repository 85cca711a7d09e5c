/**
 * Native tokens that moved inside transactions, one row per *side*: the payer's and the receiver's, once if both are
 * the same. From traces, which have no proof: they are checked against proven transactions.
 *
 * Partitioned by range of (chain_id, block_number), as `declareStorage` defines: the sync engine creates the
 * partitions. Hash and time of a row's block are in `blocks`.
 */

import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import type { Direction } from '@chainstead/db/direction';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: no bytes are lost to alignment.
export const internalTransfers = pgTable(
  'internal_transfers',
  {
    /**
     * The `addressKey` of `account`: first column of the key, and distribution column on Citus. Accounts may share one.
     */
    accountKey: int8Text('account_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Its position among the calls of its transaction, in execution order. */
    traceIndex: integer('trace_index').notNull(),
    /** In the key for two accounts with one `account_key` in one transfer. */
    direction: smallint('direction').$type<Direction>().notNull(),
    /** The account of this side. */
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

declareStorage(internalTransfers, {
  writes: 'append',
  placement: distributedBy('account', 'account_key'),
  isPartitioned: true,
});

/** One side of one transfer. */
export type InternalTransferRow = Readonly<typeof internalTransfers.$inferSelect>;
