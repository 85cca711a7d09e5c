import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from '@chainstead/db';
import { scratchOfFile, stageOfTest } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { ROWS_PER_BLOCK, sampleExport, seedSamples } from '../testing/sample-table.ts';
import { exportTable } from './export-table.ts';

/** The part of `@duckdb/node-api` that this test calls. */
interface DuckDb {
  readonly DuckDBInstance: { create(path: string): Promise<Instance> };
}
interface Instance {
  connect(): Promise<Connection>;
  closeSync(): void;
}
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): unknown[] }>;
  closeSync(): void;
}

/** Installed on demand: `npm ci --prefix packages/products/lake/duckdb`. */
const FOLDER = fileURLToPath(new URL('../../duckdb/', import.meta.url));
const isInstalled = existsSync(join(FOLDER, 'node_modules'));

const scratch = scratchOfFile();
const out = stageOfTest(async () => {
  const path = await mkdtemp(join(tmpdir(), 'chainstead-lake-'));
  return { path, close: () => rm(path, { recursive: true }) };
});
beforeEach(() => seedSamples(scratch.database));

const run = () => exportTable(sampleExport(scratch.database, out.path), new AbortController().signal);
const folderOf = () => join(out.path, 'table=samples', 'chain=1');

/** Rows that DuckDB reads from all files. */
async function inFiles(sql: string): Promise<unknown[]> {
  const { DuckDBInstance }: DuckDb = createRequire(join(FOLDER, 'package.json'))('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    await connection.run(
      `CREATE VIEW samples AS SELECT * FROM read_parquet('${out.path}/**/*.parquet', hive_partitioning = true)`,
    );
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

describe.runIf(isInstalled)('an export that DuckDB reads', () => {
  it('has the rows of SQL', async () => {
    const result = await run();
    expect(result).toEqual({
      folder: folderOf(),
      written: 5,
      rewritten: 0,
      rows: 270,
      blocks: 90,
      to: 89,
      isFinished: true,
    });
    const { rows: stored } = await scratch.database.pool.query(
      `SELECT account_key::text, chain_id::text, block_number::text, log_index, amount::text, kind, is_mint, encode(account, 'hex') AS account, label, ratio,
         (extract(epoch FROM seen_at) * 1000000)::bigint::text AS seen_at, maybe_amount::text, maybe_integer, maybe_bigint::text, maybe_flag, encode(maybe_bytes, 'hex') AS maybe_bytes,
         maybe_label, maybe_ratio, (extract(epoch FROM maybe_seen_at) * 1000000)::bigint::text AS maybe_seen_at, details::text, array_to_json(amounts::text[])::text AS amounts, day::text,
         ((1600000000 + block_number * 12) * 1000000::bigint)::text AS block_time
         FROM samples WHERE block_number <= 89 ORDER BY samples.block_number, log_index`,
    );
    const read = await inFiles(
      `SELECT account_key, chain_id, block_number, log_index, amount, kind, is_mint, lower(hex(account)) AS account, label, ratio,
         epoch_us(seen_at) AS seen_at, maybe_amount, maybe_integer, maybe_bigint, maybe_flag, lower(hex(maybe_bytes)) AS maybe_bytes,
         maybe_label, maybe_ratio, epoch_us(maybe_seen_at) AS maybe_seen_at, details, amounts, day, epoch_us(block_time) AS block_time
         FROM samples ORDER BY block_number, log_index`,
    );
    expect(read).toHaveLength(90 * ROWS_PER_BLOCK);
    expect(read).toEqual(stored);
  });

  it('has the types and sums of SQL', async () => {
    await run();
    const types = await inFiles('SELECT column_name, column_type FROM (DESCRIBE samples) ORDER BY column_name');
    expect(Object.fromEntries(types.map((row) => Object.values(row as object)))).toMatchObject({
      ...{
        account_key: 'BIGINT',
        block_number: 'BIGINT',
        log_index: 'INTEGER',
        amount: 'VARCHAR',
        kind: 'INTEGER',
        is_mint: 'BOOLEAN',
      },
      ...{
        account: 'BLOB',
        label: 'VARCHAR',
        ratio: 'DOUBLE',
        seen_at: 'TIMESTAMP WITH TIME ZONE',
        details: 'VARCHAR',
      },
      ...{
        amounts: 'VARCHAR',
        day: 'VARCHAR',
        maybe_amount: 'VARCHAR',
        maybe_seen_at: 'TIMESTAMP WITH TIME ZONE',
      },
      ...{ block_time: 'TIMESTAMP WITH TIME ZONE', chain: 'BIGINT', table: 'VARCHAR' },
    });
    const [stored] = await scratch.database.query(
      sql`SELECT count(*)::text AS rows, sum(amount)::text AS amounts FROM samples WHERE block_number <= 89`,
    );
    expect(
      await inFiles('SELECT count(*) AS rows, sum(amount::BIGNUM)::VARCHAR AS amounts FROM samples'),
    ).toEqual([stored]);
  });
});
