/** The marks in a table with partitions of a few rows, without block hashes. */
import { type Database, sql } from '@chainstead/db';
import { address, chainId } from '@chainstead/db/column-types';
import { LOCAL, storedTable } from '@chainstead/db/table-storage';
import { integer, numeric } from 'drizzle-orm/pg-core';
import type { Dataset } from '../dataset/dataset.ts';
import { defineTable } from '../dataset/row-table.ts';
import { marks } from './marks-dataset.ts';

const partitioned = storedTable(
  'partitioned_marks',
  {
    account: address('account').notNull(),
    chainId: chainId(),
    blockNumber: integer('block_number').notNull(),
    logIndex: integer('log_index').notNull(),
    value: numeric('value').notNull(),
  },
  {
    ...{ writes: 'append', placement: LOCAL, isPartitioned: true },
    key: ['account', 'chainId', 'blockNumber', 'logIndex', 'value'],
  },
);

export const partitionedMarks: Dataset = {
  name: 'marks',
  topics: marks.topics,
  decode: (logs, context) => marks.decode(logs, context).map((mark) => ({ ...mark, value: mark.amount })),
  table: defineTable(partitioned, { rowsPerPartition: 12 }) as Dataset['table'],
};

export async function createPartitionedMarkTable(database: Database): Promise<void> {
  await database.query(sql`CREATE TABLE partitioned_marks (account bytea, chain_id bigint, block_number integer, log_index integer,
    value numeric NOT NULL, PRIMARY KEY (account, chain_id, block_number, log_index, value)) PARTITION BY RANGE (chain_id, block_number)`);
}

/** Returns the stored marks in the format of `MarkedChain.truth`. */
export async function storedMarks(database: Database, chainId: number): Promise<string[]> {
  const rows = await database.query<{ mark: string }>(
    sql`SELECT concat_ws(' ', '0x' || encode(account, 'hex'), kept.block_number, log_index, value, '0x' || encode(block_hash, 'hex')) AS mark
       FROM partitioned_marks AS kept JOIN blocks USING (chain_id, block_number)
      WHERE chain_id = ${chainId}`,
  );
  return rows.map(({ mark }) => mark).sort();
}
