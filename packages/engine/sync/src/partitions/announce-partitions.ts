import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '@chainstead/db';

const LOOK_AGAIN_MS = 10;
/** A transaction that has used the table longer has listed its partitions and taken its snapshot already. */
const PATIENCE_MS = 1_000;

/**
 * Makes every session see partitions that were just attached to a table. Call it before rows are written to them.
 * Attaching blocks no reader or writer, which leaves two gaps (Postgres 18.4):
 * - A session that lists the partitions at that moment keeps the old list permanently: the invalidation arrives before
 *   its list is complete. So a second one is sent once no session can still be listing.
 * - A statement planned before may take its snapshot after rows were written, and see coverage without rows. So running
 *   transactions on the table are awaited, at most one second each time.
 */
export async function announcePartitions(database: Database, table: string): Promise<void> {
  await awaitPresentUsers(database, table);
  await announceAgain(database, table);
  await awaitPresentUsers(database, table);
}

/** Sends only the invalidation, for a partition that a killed process may not have announced. */
export async function announceAgain(database: Database, table: string): Promise<void> {
  await database.query(sql`SELECT announce_partitions(to_regclass(${table}))`);
}

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
