import type { Clock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';

/** Which tables hold rows: the partitioned one alone, or also the former one, whose rows workers move piece by piece, each in one transaction. */
export type TablesInUse = 'partitioned' | 'both';

/** How long what is known of the former table's rows is relied on while it has any. Milliseconds. */
const KNOWN_FOR_MS = 10_000;

/**
 * Tells which tables a page has to be read from. The former table is looked at again every ten seconds while it has rows, and never
 * again once it has none: it gets no new ones.
 * @param former its name
 */
export function createTablesInUse(
  database: Pick<ReadDatabase, 'selectLasting'>,
  clock: Pick<Clock, 'now'>,
  former: string,
): () => Promise<TablesInUse> {
  let known: { readonly tables: Promise<TablesInUse>; readonly until: number } | null = null;
  return () => {
    if (known !== null && clock.now() < known.until) return known.tables;
    const tables = readTables(database, former);
    const asked = { tables, until: clock.now() + KNOWN_FOR_MS };
    known = asked;
    tables.then(
      (found) => {
        if (found === 'partitioned') known = { tables, until: Number.POSITIVE_INFINITY };
      },
      () => {
        // Who waits for it is told; the next one asks again.
        if (known === asked) known = null;
      },
    );
    return tables;
  };
}

async function readTables(database: Pick<ReadDatabase, 'selectLasting'>, former: string): Promise<TablesInUse> {
  const [table] = await database.selectLasting<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    former,
  ]);
  if (table?.exists !== true) return 'partitioned';
  const rows = await database.selectLasting(`SELECT FROM ${former} LIMIT 1`);
  return rows.length > 0 ? 'both' : 'partitioned';
}
