import { type Clock, knownFor } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';

const KNOWN_FOR_MS = 10_000;

/** A bulk load drops indexes, and a migration leaves those of large tables out. */
export function createMissingIndexes(
  database: Pick<ReadDatabase, 'selectLasting'>,
  clock: Pick<Clock, 'now'>,
  names: readonly string[],
): () => Promise<readonly string[]> {
  return knownFor(KNOWN_FOR_MS, clock, () => readMissing(database, names));
}

async function readMissing(
  database: Pick<ReadDatabase, 'selectLasting'>,
  names: readonly string[],
): Promise<readonly string[]> {
  const valid = await database.selectLasting<{ name: string }>(
    sql`SELECT made.relname AS name FROM pg_class AS made JOIN pg_index ON pg_index.indexrelid = made.oid
      WHERE made.relname = ANY(${names}::text[]) AND made.relnamespace = current_schema()::regnamespace AND pg_index.indisvalid`,
  );
  const present = new Set(valid.map(({ name }) => name));
  return names.filter((name) => !present.has(name));
}
