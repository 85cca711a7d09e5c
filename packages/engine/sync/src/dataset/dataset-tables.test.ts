import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { bigint, numeric, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { describe, expect, test } from 'vitest';
import { marks } from '../testing/marks-dataset.ts';
import type { Dataset } from './dataset.ts';
import { findTableMismatches, requireDatasetTables } from './dataset-tables.ts';
import { defineTable } from './row-table.ts';

const scratch = scratchOfFile();

const deposits = pgTable(
  'vault_deposits',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    assets: numeric('assets', { precision: 78, scale: 0 }).notNull(),
    seenAt: timestamp('seen_at', { withTimezone: true }),
    note: text('note'),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.blockNumber] })],
);

const dataset = (isPartitioned = false): Dataset => ({
  ...(marks as Dataset),
  name: 'vault-deposits',
  table: { ...(defineTable(deposits) as Dataset['table']), isPartitioned },
  projections: [],
});

const COLUMNS =
  'chain_id bigint, block_number bigint, assets numeric(78,0) NOT NULL, seen_at timestamptz, note text';
const KEY = 'PRIMARY KEY (chain_id, block_number)';

async function messagesFor(definition: string, of = dataset()): Promise<readonly string[]> {
  await scratch.database.query(sql`DROP TABLE IF EXISTS vault_deposits`);
  await scratch.database.query(sql`CREATE TABLE vault_deposits ${rawSql(definition)}`);
  return (await findTableMismatches(scratch.database, [of])).map(({ message }) => message);
}

describe('the table of a dataset', () => {
  test('as the dataset says differs in nothing, partitioned or not', async () => {
    expect(await messagesFor(`(${COLUMNS}, ${KEY})`)).toEqual([]);
    const partitioned = `(${COLUMNS}, ${KEY}) PARTITION BY RANGE (chain_id, block_number)`;
    expect(await messagesFor(partitioned, dataset(true))).toEqual([]);
  });

  test.each([
    [
      `(${COLUMNS}, ${KEY})`,
      true,
      'is not partitioned, its dataset says isPartitioned: write PARTITION BY RANGE',
    ],
    [`(${COLUMNS}, ${KEY}) PARTITION BY LIST (chain_id)`, true, 'is partitioned by LIST (chain_id)'],
    [
      `(${COLUMNS}, ${KEY}) PARTITION BY RANGE (chain_id, block_number)`,
      false,
      'is partitioned, its dataset does not',
    ],
    [`(${COLUMNS.replace(', note text', '')}, ${KEY})`, false, 'has no column note'],
    [
      `(${COLUMNS.replace('numeric(78,0) NOT', 'bigint NOT')}, ${KEY})`,
      false,
      'has the column assets as bigint NOT NULL',
    ],
    [
      `(${COLUMNS.replace('note text', 'note text NOT NULL')}, ${KEY})`,
      false,
      'has the column note as text NOT NULL',
    ],
    [
      `(${COLUMNS}, shares numeric NOT NULL, ${KEY})`,
      false,
      'needs a column shares that its dataset does not write',
    ],
    [`(${COLUMNS}, PRIMARY KEY (block_number, chain_id))`, false, 'has the primary key (block_number, chain_id)'],
  ])('%s, partitioned: %s', async (definition, isPartitioned, message) => {
    const messages = await messagesFor(definition, dataset(isPartitioned));
    expect(messages).toEqual([expect.stringContaining(`vault_deposits ${message}`)]);
    expect(messages[0]).toContain('no migration makes it');
  });

  test('may have columns with a default that the dataset does not write', async () => {
    expect(await messagesFor(`(${COLUMNS}, added_at timestamptz NOT NULL DEFAULT now(), ${KEY})`)).toEqual([]);
  });
});

// Invariant: SYNC-TABLES-MATCH
test('a program whose datasets differ does not begin, and says where the table is made', async () => {
  const transfers = { ...dataset(), table: { ...dataset().table, name: 'erc20_transfer_sides' } };
  await expect(requireDatasetTables(scratch.database, [transfers])).rejects.toMatchObject({
    code: 'DATASET_TABLES_DIFFER',
    message: expect.stringMatching(
      /erc20_transfer_sides has no column assets.*\(migrations\/0000_initial\.sql:\d+\)/,
    ),
  });
});

test('tables of projections exist, with the chain and the subject', async () => {
  await scratch.database.query(sql`CREATE TABLE sums_by_day (chain_id bigint, day date)`);
  const projection = { name: 'sums', version: 1, added: () => [], removed: () => [] };
  const subjects = { column: 'wallet', rowsOf: () => [], indexes: [] };
  const wrong = {
    ...dataset(),
    projections: [
      { ...projection, tables: ['sums_by_day', 'sums_by_week'].map((name) => pgTable(name, {})), subjects },
    ],
  };
  await messagesFor(`(${COLUMNS}, ${KEY})`);
  const found = await findTableMismatches(scratch.database, [wrong]);
  expect(found.map(({ table, message }) => [table, message.split(' (')[0]])).toEqual([
    ['sums_by_day', 'sums_by_day has no column wallet'],
    ['sums_by_week', 'sums_by_week does not exist'],
  ]);
});
