/** The marks as they are kept in two layouts: a plain table, and its successor with partitions of a few rows and without the hash of the block. */

import type { Database } from '@chainstead/db';
import { address, hash } from '@chainstead/db/column-types';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import type { Dataset } from '../dataset.ts';
import { defineTable } from '../row-table.ts';
import { markStates, marks } from './marks-dataset.ts';

const former = pgTable(
  'former_marks',
  {
    account: address('account').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    logIndex: integer('log_index').notNull(),
    amount: numeric('amount').notNull(),
    blockHash: hash('block_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.account, table.chainId, table.blockNumber, table.logIndex] })],
);

const partitioned = pgTable(
  'partitioned_marks',
  {
    account: address('account').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    logIndex: integer('log_index').notNull(),
    value: numeric('value').notNull(),
  },
  (table) => [primaryKey({ columns: [table.account, table.chainId, table.blockNumber, table.logIndex, table.value] })],
);

const decode: Dataset['decode'] = (logs, context) =>
  marks.decode(logs, context).map((mark) => ({ ...mark, value: mark.amount }));

/** What an earlier version of the program keeps. */
export const formerMarks: Dataset = {
  name: 'marks',
  topics: marks.topics,
  decode,
  table: defineTable(former) as Dataset['table'],
};

/** What the present version keeps. */
export const partitionedMarks: Dataset = {
  ...formerMarks,
  table: defineTable(partitioned, {
    isPartitioned: true,
    rowsPerPartition: 12,
    former: {
      table: 'former_marks',
      all: 'all_marks',
      key: ['account', 'chain_id', 'block_number', 'log_index'],
      columns: { value: 'amount' },
    },
  }) as Dataset['table'],
};

/** The former marks with what is derived from them, in the tables of `createMarkTables`. */
export const formerCountedMarks: Dataset = { ...formerMarks, derived: markStates('amount') };

/** The present ones with the same. @param version another than 1: derived anew */
export function countedMarks(version = 1): Dataset {
  return { ...partitionedMarks, derived: markStates('value').map((state) => ({ ...state, version })) };
}

/** The marks of both tables, for `misderived`. */
export const ALL_MARKS = '(SELECT account, chain_id, block_number, value AS amount FROM all_marks)';

export async function createPartitionedMarkTables(database: Database): Promise<void> {
  const key = 'PRIMARY KEY (account, chain_id, block_number, log_index)';
  await database.query(`CREATE TABLE former_marks (account bytea, chain_id bigint, block_number bigint, log_index integer,
    amount numeric NOT NULL, block_hash bytea NOT NULL, ${key})`);
  await database.query(`CREATE TABLE partitioned_marks (account bytea, chain_id bigint, block_number integer, log_index integer,
    value numeric NOT NULL, PRIMARY KEY (account, chain_id, block_number, log_index, value)) PARTITION BY RANGE (chain_id, block_number)`);
  await database.query(`CREATE VIEW all_marks AS SELECT account, chain_id, block_number, log_index, value FROM partitioned_marks
    UNION ALL SELECT account, chain_id, block_number::integer, log_index, amount FROM former_marks`);
}

/** The marks of both tables, as `MarkedChain.truth` tells them. */
export async function keptMarks(database: Database, chainId: number): Promise<string[]> {
  const rows = await database.query<{ mark: string }>(
    `SELECT concat_ws(' ', '0x' || encode(account, 'hex'), kept.block_number, log_index, value, '0x' || encode(block_hash, 'hex')) AS mark
       FROM all_marks AS kept JOIN blocks USING (chain_id, block_number)
      WHERE chain_id = $1`,
    [chainId],
  );
  return rows.map(({ mark }) => mark).sort();
}
