/** Secondary indexes cost a multiple of a bulk load. The primary key stays: pages are served. */
import { createHash } from 'node:crypto';
import { ChainsteadError } from '@chainstead/core';
import { type Database, rawSql, type Sql, sql, withPatientSession } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import type { BulkIndex } from '../dataset/row-table.ts';
import { readPartitions } from './read-partitions.ts';

/** For writers and readers of a table, which proceed between attempts. */
const GIVE_UP_AFTER_MS = 60_000;

export async function dropBulkIndexes(database: Database, datasets: readonly Dataset[]): Promise<void> {
  for (const { name, table, isPartitioned } of bulkIndexesOf(datasets))
    if (isPartitioned) await lockingTable(database, table, sql`DROP INDEX IF EXISTS ${rawSql(name)}`);
    else await database.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${rawSql(name)}`);
}

/** Also those that an interrupted build left invalid. Readers and writers continue. */
export async function buildBulkIndexes(
  database: Database,
  datasets: readonly Dataset[],
  onStart: (index: string) => void = () => undefined,
): Promise<void> {
  const missing = new Set(await missingBulkIndexes(database, datasets));
  for (const index of bulkIndexesOf(datasets)) {
    if (!missing.has(index.name)) continue;
    onStart(index.name);
    try {
      await (index.isPartitioned ? buildOnPartitions(database, index) : buildOn(database, index, index));
    } catch (error) {
      throw new ChainsteadError({
        code: 'INDEX_BUILD_FAILED',
        message: `The index ${index.name} could not be built`,
        facts: { index: index.name },
        remedy: 'Run "chainstead indexes" again when the disk has free space and the database is idle',
        retryable: true,
        cause: error,
      });
    }
  }
}

async function lockingTable(database: Pick<Database, 'session'>, table: string, statement: Sql): Promise<void> {
  const options = { tables: table, giveUpAfterMs: GIVE_UP_AFTER_MS };
  await withPatientSession(database, options, (run) => run(statement));
}

/** Waits for older transactions, and blocks none. */
async function buildOn(
  database: Pick<Database, 'query'>,
  { definition }: Pick<BulkIndex, 'definition'>,
  { name, table }: { readonly name: string; readonly table: string },
): Promise<void> {
  await database.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${rawSql(name)}`);
  await database.query(
    sql`CREATE INDEX CONCURRENTLY ${rawSql(name.slice(name.indexOf('.') + 1))} ON ${rawSql(table)} ${rawSql(definition)}`,
  );
}

/** The table's index adopts those of partitions; newer partitions are almost empty. */
export async function buildOnPartitions(
  database: Pick<Database, 'query' | 'session'>,
  index: Omit<BulkIndex, 'isPartitioned'>,
): Promise<void> {
  for (const partition of await readPartitions(database, { name: index.table }))
    await buildOn(database, index, { name: partIndexName(partition.name, index), table: partition.name });
  await lockingTable(
    database,
    index.table,
    sql`CREATE INDEX IF NOT EXISTS ${rawSql(index.name)} ON ${rawSql(index.table)} ${rawSql(index.definition)}`,
  );
}

function partIndexName(partition: string, { name, table }: Pick<BulkIndex, 'name' | 'table'>): string {
  const schema = table.slice(0, table.indexOf('.') + 1);
  // Names of own contracts are long, and have no $ in this place.
  if (schema !== '')
    return `${schema}ix$${createHash('sha256').update(`${partition} ${name}`).digest('hex').slice(0, 24)}`;
  return name.startsWith(`${table}_`) ? `${partition}${name.slice(table.length)}` : `${partition}_${name}`;
}

export async function missingBulkIndexes(database: Database, datasets: readonly Dataset[]): Promise<string[]> {
  const names = bulkIndexesOf(datasets).map((index) => index.name);
  const valid = await database.query<{ name: string }>(
    sql`SELECT c.relname AS name FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
      WHERE c.relname = ANY(${names}::text[]) AND c.relnamespace = current_schema()::regnamespace AND i.indisvalid`,
  );
  const present = new Set(valid.map((row) => row.name));
  return names.filter((name) => !present.has(name));
}

function bulkIndexesOf(datasets: readonly Dataset[]): BulkIndex[] {
  return datasets.flatMap((dataset) => dataset.table.bulkIndexes);
}
