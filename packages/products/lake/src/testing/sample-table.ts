import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync/datasets';
import { coverBlocks } from '@chainstead/testkit';
import type { ExportOptions } from '../export/export-table.ts';
import { findExportTable } from '../tables/export-table.ts';

/** Columns of the sample, with every type. */
const TYPES: readonly (readonly [name: string, type: string, isRequired: boolean])[] = [
  ['account_key', 'bigint', true],
  ['chain_id', 'bigint', true],
  // As in the tables of contracts. Those of other datasets have an integer.
  ['block_number', 'bigint', true],
  ['log_index', 'integer', true],
  ['amount', 'numeric(78,0)', true],
  ['kind', 'smallint', true],
  ['is_mint', 'boolean', true],
  ['account', 'bytea', true],
  ['label', 'text', true],
  ['ratio', 'double precision', true],
  ['seen_at', 'timestamp with time zone', true],
  ['maybe_amount', 'numeric', false],
  ['maybe_integer', 'integer', false],
  ['maybe_bigint', 'bigint', false],
  ['maybe_flag', 'boolean', false],
  ['maybe_bytes', 'bytea', false],
  ['maybe_label', 'text', false],
  ['maybe_ratio', 'real', false],
  ['maybe_seen_at', 'timestamp with time zone', false],
  ['details', 'jsonb', false],
  ['amounts', 'numeric(78,0)[]', false],
  ['day', 'date', false],
];

/** A dataset whose table has a column of every type. */
export const samples: Dataset = {
  name: 'samples',
  topics: () => [],
  decode: () => [],
  table: {
    name: 'samples',
    columns: TYPES.map(([name]) => name),
    types: new Map(TYPES.map(([name, type, isRequired]) => [name, { type, isRequired, hasDefault: false }])),
    key: ['account_key', 'chain_id', 'block_number', 'log_index'],
    bulkIndexes: [],
    isPartitioned: false,
    rowsPerPartition: 1,
    copyLine: () => '',
  },
};

/** Rows of each block. */
export const ROWS_PER_BLOCK = 3;

/** Makes the table with rows, headers and coverage of blocks 0 to 99, of which 0 to 89 are final. */
export async function seedSamples(database: Database): Promise<void> {
  const columns = TYPES.map(([name, type, isRequired]) => `${name} ${type} ${isRequired ? 'NOT NULL' : ''}`);
  await database.query(sql`DROP TABLE IF EXISTS samples`);
  await database.query(
    sql`CREATE TABLE samples (${rawSql(columns.join(', '))}, PRIMARY KEY (account_key, chain_id, block_number, log_index))`,
  );
  await database.query(
    sql`INSERT INTO samples
     SELECT 9223372036854775807 - i, 1, i / ${rawSql(ROWS_PER_BLOCK)}, i % ${rawSql(ROWS_PER_BLOCK)},
       115792089237316195423570985008687907853269984665640564039457584007913129639935 - i, i % 3 - 1, i % 2 = 0, sha256(int8send(i)), 'Käse ' || i, i / 8.0,
       timestamptz '2015-07-30 15:26:13.123456+00' + i * interval '1 hour',
       CASE WHEN i % 2 = 0 THEN -i - 0.5 END, CASE WHEN i % 2 = 0 THEN i END, CASE WHEN i % 2 = 0 THEN -9223372036854775808 + i END,
       CASE WHEN i % 2 = 0 THEN i % 4 = 0 END, CASE WHEN i % 2 = 0 THEN '\\x'::bytea END, CASE WHEN i % 2 = 0 THEN '' END, CASE WHEN i % 2 = 0 THEN i / 4.0 END,
       CASE WHEN i % 2 = 0 THEN timestamptz '1969-12-31 23:59:59+00' - i * interval '1 second' END,
       CASE WHEN i % 2 = 0 THEN jsonb_build_object('value', i) END, CASE WHEN i % 2 = 0 THEN ARRAY[i, NULL, 2::numeric ^ 255]::numeric(78,0)[] END, CASE WHEN i % 2 = 0 THEN date '2020-01-01' + i::integer END
       FROM generate_series(0::bigint, ${rawSql(100 * ROWS_PER_BLOCK)} - 1) AS i ORDER BY random()`,
  );
  for (const table of ['blocks', 'sync_ranges', 'sync_chains', 'rewritten_ranges'])
    await database.query(sql`DELETE FROM ${rawSql(table)}`);
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT 1, number, sha256(int8send(number)), to_timestamp(1600000000 + number * 12) FROM generate_series(0, 99) AS number`,
  );
  await cover(database, 0, 59, 'receipts');
  await cover(database, 60, 99, 'none');
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, checkpoint_hash) VALUES (1, 'eth', 0, 50, 99, sha256(int8send(99)))`,
  );
}

export async function cover(database: Database, from: number, to: number, proof: string): Promise<void> {
  await coverBlocks(database, 1, 'samples', from, to, proof);
}

/** Options of an export of final samples, 20 blocks per file. */
export function sampleExport(
  database: Database,
  out: string,
  changes: Partial<ExportOptions> = {},
): ExportOptions {
  return {
    database,
    clock: systemClock,
    chain: { ...createChainRegistry().get('eth'), reorgDepthMax: 10 },
    table: findExportTable([samples], 'samples'),
    ...{ from: 0, to: 89, out, blocksPerFile: 20, follow: false, ...changes },
  };
}
