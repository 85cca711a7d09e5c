/** Every block's with `LOGS_<CHAIN>=all`, else of requested contracts. Hash and time: `blocks`. */
import { address, hash, hexadecimal, int8Text, logPlace } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import { index } from 'drizzle-orm/pg-core';

// Fixed width first: no bytes are lost to alignment.
export const logs = storedTable(
  'logs',
  {
    /** `addressKey`; distribution column on Citus. Contracts may share one. */
    addressKey: int8Text('address_key').notNull(),
    ...logPlace(),
    transactionHash: hash('transaction_hash').notNull(),
    address: address('address').notNull(),
    topic0: hash('topic0'),
    topic1: hash('topic1'),
    topic2: hash('topic2'),
    topic3: hash('topic3'),
    data: hexadecimal('data').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('emitter', 'address_key'),
    isPartitioned: true,
    key: ['addressKey', ...LOG_PLACE],
    indexes: (table) => [
      // One chain per partition. Four bytes distinguish events; queries compare the whole topic.
      index('logs_by_topic').on(table.addressKey, sql`"substring"(topic0, 1, 4)`, table.blockNumber),
    ],
  },
);

export type LogRow = Readonly<typeof logs.$inferSelect>;
