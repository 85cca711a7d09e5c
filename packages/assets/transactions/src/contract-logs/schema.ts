/**
 * Logs of contracts, one row each: of every block with `LOGS_<CHAIN>=all`, otherwise of requested contracts.
 *
 * Partitioned by range of (chain_id, block_number), as `declareStorage` defines: the sync engine creates the
 * partitions. Hash and time of a row's block are in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import { bigint, index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: no bytes are lost to alignment.
export const logs = pgTable(
  'logs',
  {
    /**
     * The `addressKey` of `address`: first column of the indexes, and distribution column on Citus. Contracts may share
     * one.
     */
    addressKey: int8Text('address_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Unique within its transaction on every chain, within its block on most. */
    logIndex: integer('log_index').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    /** The contract that emitted it. */
    address: address('address').notNull(),
    topic0: hash('topic0'),
    topic1: hash('topic1'),
    topic2: hash('topic2'),
    topic3: hash('topic3'),
    data: hexadecimal('data').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.addressKey, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    // The partition determines the chain. Four bytes distinguish a contract's events, and queries compare the whole
    // topic too.
    index('logs_by_topic').on(table.addressKey, sql`"substring"(topic0, 1, 4)`, table.blockNumber),
    blockRangeIndex('logs', table, 'int4'),
  ],
);

declareStorage(logs, { writes: 'append', placement: distributedBy('emitter', 'address_key'), isPartitioned: true });

/** One log. Hexadecimal text is lower case. */
export type LogRow = Readonly<typeof logs.$inferSelect>;
