import { parseChainId } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync/datasets';
import { buildBulkIndexes, dropBulkIndexes, missingBulkIndexes } from '@chainstead/sync/ingest';
import { createPartitions, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { datasets } from './registry.ts';

let scratch: ScratchDatabase;

beforeEach(async () => {
  scratch = await createScratchDatabase();
});
afterEach(() => scratch.drop());

const definitions = () =>
  scratch.database.query(
    sql`SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`,
  );

it('builds exactly the indexes that the migrations had made', async () => {
  const migrated = await definitions();
  await dropBulkIndexes(scratch.database, datasets);
  expect((await missingBulkIndexes(scratch.database, datasets)).toSorted()).toEqual([
    'erc20_transfer_sides_by_contract',
    'erc20_transfer_sides_by_token',
    'logs_by_topic',
    'nft_transfers_by_range',
    'nft_transfers_by_recipient',
    'nft_transfers_by_sender',
    'nft_transfers_by_token',
  ]);
  expect(await definitions()).not.toEqual(migrated);
  await buildBulkIndexes(scratch.database, datasets);
  expect(await definitions()).toEqual(migrated);
  expect(await missingBulkIndexes(scratch.database, datasets)).toEqual([]);
});

it('builds an index on each partition, and replaces one that an interrupted build left invalid', async () => {
  await createPartitions(scratch.database, 'erc20_transfer_sides', parseChainId(1), [1_000]);
  await dropBulkIndexes(scratch.database, datasets);
  await scratch.database.query(
    sql`CREATE INDEX erc20_transfer_sides_1_1000_by_token ON erc20_transfer_sides_1_1000 (token)`,
  );
  await scratch.database.query(
    sql`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'erc20_transfer_sides_1_1000_by_token'::regclass`,
  );
  await buildBulkIndexes(scratch.database, datasets);
  expect(await missingBulkIndexes(scratch.database, datasets)).toEqual([]);
  const ofPartitions = await scratch.database.query(
    sql`SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid
      WHERE inhparent = 'erc20_transfer_sides_by_token'::regclass ORDER BY name`,
  );
  expect(ofPartitions).toEqual([
    { name: 'erc20_transfer_sides_1_1000_by_token', valid: true },
    { name: 'erc20_transfer_sides_1_minvalue_by_token', valid: true },
  ]);
});

it('replaces an index of a table without partitions that an interrupted build left invalid', async () => {
  const name = 'nft_malformed_logs_by_reason';
  const plain = datasets.flatMap((dataset): Dataset[] => {
    const { table } = dataset;
    if (table.name !== 'nft_malformed_logs') return [];
    const index = {
      name,
      table: table.name,
      isPartitioned: table.isPartitioned,
      definition: 'USING btree (reason)',
    };
    return [{ ...dataset, table: { ...table, bulkIndexes: [index] } }];
  });
  await scratch.database.query(sql`CREATE INDEX ${rawSql(name)} ON nft_malformed_logs (reason)`);
  expect(await missingBulkIndexes(scratch.database, plain)).toEqual([]);
  await scratch.database.query(sql`UPDATE pg_index SET indisvalid = false WHERE indexrelid = ${name}::regclass`);
  expect(await missingBulkIndexes(scratch.database, plain)).toEqual([name]);
  await buildBulkIndexes(scratch.database, plain);
  expect(await missingBulkIndexes(scratch.database, plain)).toEqual([]);
});

it('leaves indexes alone that are there', async () => {
  const built: string[] = [];
  await buildBulkIndexes(scratch.database, datasets, (index) => built.push(index));
  expect(built).toEqual([]);
});

it('drops and builds indexes of a table that a reader holds, and lets its writers proceed meanwhile', async () => {
  const sides = datasets.filter(({ table }) => table.name === 'erc20_transfer_sides');
  const write = () =>
    scratch.database.transaction((writer) =>
      writer.query(sql`LOCK TABLE erc20_transfer_sides IN ROW EXCLUSIVE MODE`),
    );
  const writeOften = async () => {
    for (let written = 0; written < 20; written++) await write();
  };
  let dropping: Promise<void> = Promise.resolve();
  await scratch.database.transaction(async (reader) => {
    await reader.query(sql`SELECT count(*) FROM erc20_transfer_sides`);
    dropping = dropBulkIndexes(scratch.database, sides);
    await writeOften();
    expect(await missingBulkIndexes(scratch.database, sides)).toEqual([]);
  });
  await dropping;
  expect(await missingBulkIndexes(scratch.database, sides)).not.toEqual([]);
  await scratch.database.transaction(async (reader) => {
    await reader.query(sql`SELECT count(*) FROM erc20_transfer_sides`);
    await Promise.all([buildBulkIndexes(scratch.database, sides), writeOften()]);
  });
  expect(await missingBulkIndexes(scratch.database, sides)).toEqual([]);
});
