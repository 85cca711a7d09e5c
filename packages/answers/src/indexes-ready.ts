import type { Clock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';

/** How long what is known of the indexes is relied on: a bulk load may drop them. Milliseconds. */
const KNOWN_FOR_MS = 10_000;

/**
 * Tells which of the indexes that a page can't be read without are missing: a bulk load drops them, and a migration leaves those of large
 * tables to `chainstead indexes`. Looked at every ten seconds.
 */
export function createMissingIndexes(
  database: Pick<ReadDatabase, 'selectLasting'>,
  clock: Pick<Clock, 'now'>,
  names: readonly string[],
): () => Promise<readonly string[]> {
  let known: { readonly missing: Promise<readonly string[]>; readonly until: number } | null = null;
  return () => {
    if (known !== null && clock.now() < known.until) return known.missing;
    const asked = { missing: readMissing(database, names), until: clock.now() + KNOWN_FOR_MS };
    known = asked;
    // Who waits for it is told of a failure; the next one asks again.
    asked.missing.catch(() => {
      if (known === asked) known = null;
    });
    return asked.missing;
  };
}

async function readMissing(
  database: Pick<ReadDatabase, 'selectLasting'>,
  names: readonly string[],
): Promise<readonly string[]> {
  const valid = await database.selectLasting<{ name: string }>(
    `SELECT made.relname AS name FROM pg_class AS made JOIN pg_index ON pg_index.indexrelid = made.oid
      WHERE made.relname = ANY($1::text[]) AND made.relnamespace = current_schema()::regnamespace AND pg_index.indisvalid`,
    [names],
  );
  const present = new Set(valid.map(({ name }) => name));
  return names.filter((name) => !present.has(name));
}
