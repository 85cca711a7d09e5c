import { parseChainId } from '@chainstead/core';
import { type Database, rawSql, sql, transactionLock } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { ensurePartitions } from './ensure-partitions.ts';
import { readPartitionsOf } from './read-partitions.ts';

const scratch = scratchOfFile();
const CHAIN = parseChainId(1);
const blocks = [{ from: 0, to: 10 }];
const WAITING = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const wanted = (name: string) => ({
  table: { name, rowsPerPartition: 1_000 },
  density: { rows: 10, blocks: 10 },
});

async function createTables(names: readonly string[]): Promise<void> {
  for (const name of names)
    await scratch.database.query(
      sql`CREATE TABLE ${rawSql(name)} (chain_id bigint, block_number integer) PARTITION BY RANGE (chain_id, block_number)`,
    );
}

test('many tables get partitions in several transactions, also if one is named twice', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `grouped_${index}x`);
  await createTables(names);
  let transactions = 0;
  const database: Database = {
    ...scratch.database,
    transaction: (work) => {
      transactions += 1;
      return scratch.database.transaction(work);
    },
  };
  const made = await ensurePartitions(database, CHAIN, blocks, [...names, 'grouped_0x'].map(wanted));
  expect(transactions).toBe(2);
  expect(made).toHaveLength(60);
  const tables = names.map((name) => ({ name }));
  expect((await readPartitionsOf(scratch.database, tables, CHAIN)).size).toBe(60);
});

test('a table that is dropped during the wait for its lock gets none', async () => {
  const { database } = scratch;
  await createTables(['dropped_meanwhile', 'stays']);
  let making: Promise<readonly string[]> = Promise.resolve([]);
  await database.transaction(async (transaction) => {
    await transactionLock(transaction, 'partitions:dropped_meanwhile');
    await transaction.query(sql`DROP TABLE dropped_meanwhile`);
    making = ensurePartitions(database, CHAIN, blocks, ['dropped_meanwhile', 'stays'].map(wanted));
    await expect.poll(() => database.query(WAITING)).toHaveLength(1);
  });
  expect(await making).toEqual([expect.stringContaining('stays')]);
});
