import type { Clock } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';

/** How long the last check of the indexes is valid: a bulk load may drop them. Milliseconds. */
const KNOWN_FOR_MS = 10_000;

/** A bulk load drops indexes, and a migration leaves those of large tables out. Checked every ten seconds. */
export function createMissingIndexes(
  database: Pick<ReadDatabase, 'selectLasting'>,
  clock: Pick<Clock, 'now'>,
  names: readonly string[],
): () => Promise<readonly string[]> {
  let known: { readonly missing: Promise<readonly string[]>; readonly until: number } | null = null;
  return () => {
    if (known !== null && clock.now() < known.until) return known.missing;
    const requested = { missing: readMissing(database, names), until: clock.now() + KNOWN_FOR_MS };
    known = requested;
    // The waiting requests get the failure; the next request tries again.
    requested.missing.catch(() => {
      if (known === requested) known = null;
    });
    return requested.missing;
  };
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
