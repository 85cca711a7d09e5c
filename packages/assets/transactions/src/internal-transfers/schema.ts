/** One row per side, once if both are equal. Traces have no proof: checked against transactions. */

import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import type { Direction } from '@chainstead/db/direction';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';

export const internalTransfers = pgTable(
  'internal_transfers',
  {
    /** `addressKey`; distribution column on Citus. Accounts may share one. */
    accountKey: int8Text('account_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Among the transaction's calls, in execution order. */
    traceIndex: integer('trace_index').notNull(),
    /** In the key for two accounts with one `account_key` in a transfer. */
    direction: smallint('direction').$type<Direction>().notNull(),
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

export type InternalTransferRow = Readonly<typeof internalTransfers.$inferSelect>;
