/** One row per side, once if both are equal. Traces have no proof: checked against transactions. */

import { address, chainId, type Direction, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { distributedBy, storedTable } from '@chainstead/db/table-storage';
import { integer, smallint, text } from 'drizzle-orm/pg-core';

export const internalTransfers = storedTable(
  'internal_transfers',
  {
    /** `addressKey`; distribution column on Citus. Accounts may share one. */
    accountKey: int8Text('account_key').notNull(),
    chainId: chainId(),
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
  {
    writes: 'append',
    placement: distributedBy('account', 'account_key'),
    isPartitioned: true,
    key: ['accountKey', 'chainId', 'blockNumber', 'transactionIndex', 'traceIndex', 'direction'],
  },
);

export type InternalTransferRow = Readonly<typeof internalTransfers.$inferSelect>;
