/** Every block's with `LOGS_<CHAIN>=all`, else of requested contracts. Hash and time: `blocks`. */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import { bigint, index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

// Fixed width first: no bytes are lost to alignment.
export const logs = pgTable(
  'logs',
  {
    /** `addressKey`; distribution column on Citus. Contracts may share one. */
    addressKey: int8Text('address_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Unique in its transaction; on most chains in its block. */
    logIndex: integer('log_index').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
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
    // One chain per partition. Four bytes distinguish events; queries compare the whole topic.
    index('logs_by_topic').on(table.addressKey, sql`"substring"(topic0, 1, 4)`, table.blockNumber),
    blockRangeIndex('logs', table, 'int4'),
  ],
);

declareStorage(logs, { writes: 'append', placement: distributedBy('emitter', 'address_key'), isPartitioned: true });

export type LogRow = Readonly<typeof logs.$inferSelect>;
