/**
 * Secondary indexes in bulk loads. Measured: they cost a multiple of the load itself, so a declared bulk backfill drops
 * those of its datasets first and builds them afterwards, concurrently. Never at a restart: a start only reports them
 * missing. The primary key stays, so pages are served meanwhile; only filters by token scan more.
 */
import { ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Dataset } from './dataset.ts';
import type { BulkIndex } from './row-table.ts';

export async function dropBulkIndexes(database: Database, datasets: readonly Dataset[]): Promise<void> {
  for (const { name } of bulkIndexesOf(datasets)) await database.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

/** Builds what is missing or was left invalid by an interrupted build. Safe to run at any time; readers and writers go on. */
export async function buildBulkIndexes(
  database: Database,
  datasets: readonly Dataset[],
  onStart: (index: string) => void = () => undefined,
): Promise<void> {
  const missing = new Set(await missingBulkIndexes(database, datasets));
  for (const { name, definition } of bulkIndexesOf(datasets)) {
    if (!missing.has(name)) continue;
    onStart(name);
    // An interrupted CONCURRENTLY leaves an invalid index under the name.
    await database.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    try {
      await database.query(`CREATE INDEX CONCURRENTLY ${name} ${definition}`);
    } catch (error) {
      throw new ChainsteadError({
        code: 'INDEX_BUILD_FAILED',
        message: `The index ${name} could not be built`,
        facts: { index: name },
        remedy: 'Run "chainstead indexes" again when there is room and quiet',
        retryable: true,
        cause: error,
      });
    }
  }
}

/** Names of the indexes that are not there or not valid. */
export async function missingBulkIndexes(database: Database, datasets: readonly Dataset[]): Promise<string[]> {
  const names = bulkIndexesOf(datasets).map((index) => index.name);
  const valid = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
      WHERE c.relname = ANY($1::text[]) AND c.relnamespace = current_schema()::regnamespace AND i.indisvalid`,
    [names],
  );
  const present = new Set(valid.map((row) => row.name));
  return names.filter((name) => !present.has(name));
}

function bulkIndexesOf(datasets: readonly Dataset[]): BulkIndex[] {
  return datasets.flatMap((dataset) => dataset.table.bulkIndexes);
}
