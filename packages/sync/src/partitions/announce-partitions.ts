import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '@chainstead/db';

const LOOK_AGAIN_MS = 10;
/**
 * Sessions list partitions, and planned statements take a snapshot, within moments. A transaction that has used the
 * table longer has done both already.
 */
const PATIENCE_MS = 1_000;

/**
 * Makes every session see partitions that were just attached to a table. Call it before rows are written to them.
 *
 * Postgres attaches a partition under a lock that blocks no reader or writer, which leaves two gaps (seen on Postgres
 * 18.4):
 * - A session that lists the partitions at that moment keeps the old list permanently, because the invalidation arrives
 *   before its list is complete. Its queries skip the new partition and its writes fail. So a second invalidation is
 *   sent once no session can still be listing.
 * - A statement planned before may take its snapshot after rows were written. It would see the new coverage without the
 *   rows, or a moved row in neither table. So running transactions on the table are awaited, for at most one second
 *   each time.
 */
export async function announcePartitions(database: Database, table: string): Promise<void> {
  await awaitPresentUsers(database, table);
  await announceAgain(database, table);
  await awaitPresentUsers(database, table);
}

/** Sends only the invalidation, for a table whose last partition may be unannounced because its process was killed. */
export async function announceAgain(database: Database, table: string): Promise<void> {
  await database.query(sql`SELECT announce_partitions(to_regclass(${table}))`);
}

/** Waits until the transactions that use the table now have ended. */
async function awaitPresentUsers(database: Database, table: string): Promise<void> {
  const usesTable = sql`relation = to_regclass(${table}) AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const users = await database.query<{ transaction: string }>(
    sql`SELECT DISTINCT virtualtransaction AS transaction FROM pg_locks WHERE ${usesTable} AND pid <> pg_backend_pid()`,
  );
  if (users.length === 0) return;
  const transactions = users.map(({ transaction }) => transaction);
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    const left = await database.query(
      sql`SELECT FROM pg_locks WHERE ${usesTable} AND virtualtransaction = ANY(${transactions}::text[]) LIMIT 1`,
    );
    if (left.length === 0) return;
  }
}
