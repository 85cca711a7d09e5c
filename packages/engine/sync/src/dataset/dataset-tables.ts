import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { defineError } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { listMigrationFiles } from '@chainstead/db/server';
import { getTableName } from 'drizzle-orm';
import type { Dataset } from './dataset.ts';
import type { ColumnType } from './row-table.ts';

export interface TableMismatch {
  readonly dataset: string;
  readonly table: string;
  readonly message: string;
}

export class DatasetTablesError extends defineError(
  'DATASET_TABLES_DIFFER',
  (mismatches: readonly TableMismatch[]) => ({
    message: `The database lacks the tables of ${[...new Set(mismatches.map(({ dataset }) => `the dataset ${dataset}`))].join(' and ')}: ${mismatches.map(({ message }) => message).join('; ')}`,
    facts: { tables: mismatches.map(({ table }) => table) },
    remedy: 'Change the migration or the dataset to match, then restart. Nothing was indexed',
  }),
) {}

/** @throws DatasetTablesError */
export async function requireDatasetTables(
  database: Pick<Database, 'query'>,
  datasets: readonly Dataset[],
): Promise<void> {
  const mismatches = await findTableMismatches(database, datasets);
  // Invariant: SYNC-TABLES-MATCH
  if (mismatches.length > 0) throw new DatasetTablesError(mismatches);
}

/** Indexes are not compared: a bulk backfill may have dropped them. */
export async function findTableMismatches(
  database: Pick<Database, 'query'>,
  datasets: readonly Dataset[],
): Promise<readonly TableMismatch[]> {
  const projections = datasets.flatMap((dataset) =>
    (dataset.projections ?? []).flatMap((projection) =>
      projection.tables.map((table) => ({
        dataset: dataset.name,
        table: getTableName(table),
        columns: ['chain_id', ...(projection.subjects === undefined ? [] : [projection.subjects.column])],
      })),
    ),
  );
  const names = new Set([...datasets.map(({ table }) => table.name), ...projections.map(({ table }) => table)]);
  const stored = await readTables(database, [...names]);
  const mismatches: TableMismatch[] = [];
  for (const dataset of datasets) {
    const { name } = dataset.table;
    const table = stored.get(name);
    const messages = table === undefined ? ['does not exist'] : differencesOf(dataset, table);
    for (const message of messages) mismatches.push({ dataset: dataset.name, table: name, message });
  }
  for (const { dataset, table, columns } of projections) {
    const present = stored.get(table)?.columns;
    const lacking = columns.filter((column) => present?.has(column) !== true);
    const messages =
      present === undefined ? ['does not exist'] : lacking.map((column) => `has no column ${column}`);
    for (const message of messages) mismatches.push({ dataset, table, message });
  }
  return Promise.all(
    mismatches.map(async ({ message, ...mismatch }) => ({
      ...mismatch,
      message: `${mismatch.table} ${message} (${await placeOf(mismatch.table)})`,
    })),
  );
}

interface StoredTable {
  readonly columns: ReadonlyMap<string, ColumnType>;
  readonly key: readonly string[];
  /** The PARTITION BY clause; null: not partitioned. */
  readonly partitioning: string | null;
}

const PARTITIONING = 'RANGE (chain_id, block_number)';

function differencesOf({ table }: Dataset, stored: StoredTable): readonly string[] {
  const differences: string[] = [];
  for (const name of table.columns) {
    const [wanted, present] = [table.types.get(name), stored.columns.get(name)];
    if (present === undefined) differences.push(`has no column ${name}: add it to the table's migration`);
    else if (wanted !== undefined && typeText(wanted) !== typeText(present))
      differences.push(
        `has the column ${name} as ${typeText(present)}, its dataset as ${typeText(wanted)}: write the same in schema.ts and in the migration`,
      );
  }
  for (const [name, { isRequired, hasDefault }] of stored.columns)
    if (!table.columns.includes(name) && isRequired && !hasDefault)
      differences.push(`needs a column ${name} that its dataset does not write: add it to schema.ts`);
  if (table.key.join() !== stored.key.join())
    differences.push(
      `has the primary key (${stored.key.join(', ')}), its dataset (${table.key.join(', ')}): write the same in schema.ts and in the migration`,
    );
  if (table.isPartitioned && stored.partitioning !== PARTITIONING)
    differences.push(
      `is ${stored.partitioning === null ? 'not partitioned' : `partitioned by ${stored.partitioning}`}, its dataset says isPartitioned: write PARTITION BY ${PARTITIONING} at the end of its CREATE TABLE, as npm run migrations:generate does`,
    );
  if (!table.isPartitioned && stored.partitioning !== null)
    differences.push(
      'is partitioned, its dataset does not say so: add isPartitioned to the storedTable of its schema.ts',
    );
  return differences;
}

function typeText({ type, isRequired }: ColumnType): string {
  return isRequired ? `${type} NOT NULL` : type;
}

async function readTables(
  database: Pick<Database, 'query'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, StoredTable>> {
  const rows = await database.query<{
    name: string;
    columns: (ColumnType & { name: string })[];
    key: string[] | null;
    partitioning: string | null;
  }>(
    sql`SELECT relname::text AS name, pg_get_partkeydef(c.oid) AS partitioning,
  (SELECT jsonb_agg(jsonb_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'isRequired', attnotnull,
      'hasDefault', atthasdef OR attidentity <> ''))
     FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
  (SELECT array_agg(attname::text ORDER BY position)
     FROM pg_index, unnest(indkey::int2[]) WITH ORDINALITY AS k (attnum, position) JOIN pg_attribute AS a USING (attnum)
    WHERE indrelid = c.oid AND attrelid = indrelid AND indisprimary) AS key
FROM pg_class AS c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relname = ANY(${names}::text[])`,
  );
  return new Map(
    rows.map(({ name, columns, key, partitioning }) => [
      name,
      { columns: new Map(columns.map((column) => [column.name, column])), key: key ?? [], partitioning },
    ]),
  );
}

/** The line that creates the table: `migrations/0000_initial.sql:388`. */
async function placeOf(table: string): Promise<string> {
  for (const path of await listMigrationFiles()) {
    const lines = (await readFile(path, 'utf8')).split('\n');
    const line = lines.findIndex((text) => text.startsWith(`CREATE TABLE "${table}"`));
    if (line >= 0) return `${join(basename(dirname(path)), basename(path))}:${line + 1}`;
  }
  return 'no migration makes it: run npm run migrations:generate';
}
