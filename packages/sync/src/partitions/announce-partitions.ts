import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@chainstead/db';

const LOOK_AGAIN_MS = 10;
/** Listing partitions, and taking a snapshot once a statement is planned, take moments. Whoever uses the table for longer did both before. */
const PATIENCE_MS = 1_000;

/**
 * Makes sure that every session knows the partitions that were just attached to a table. To be called before anything is written to them.
 *
 * Postgres attaches a partition under a lock that stops nobody, and leaves two gaps (seen on Postgres 18.4). A session that is listing the partitions at
 * that moment keeps the list without the new one for as long as it lives, since the news came before the list was finished: its queries leave
 * the partition out, and its writes find no place. So there is news again once nobody can be at it. And a statement that was planned before may
 * take its snapshot after rows were written: it would see the new coverage, but not the rows; or a moved row in neither of two tables. So
 * those who use the table are waited for, a second at most each time.
 */
export async function announcePartitions(database: Database, table: string): Promise<void> {
  await awaitPresentUsers(database, table);
  await announceAgain(database, table);
  await awaitPresentUsers(database, table);
}

/** The news alone, for a table whose last partition may not have been announced: its process was killed at that moment. */
export async function announceAgain(database: Database, table: string): Promise<void> {
  await database.query('SELECT announce_partitions(to_regclass($1))', [table]);
}

/** Waits until the transactions that use the table now have ended. */
async function awaitPresentUsers(database: Database, table: string): Promise<void> {
  const users = await database.query<{ transaction: string }>(
    `SELECT DISTINCT virtualtransaction AS transaction FROM pg_locks WHERE ${USING_TABLE} AND pid <> pg_backend_pid()`,
    [table],
  );
  if (users.length === 0) return;
  const transactions = users.map(({ transaction }) => transaction);
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    const left = await database.query(
      `SELECT FROM pg_locks WHERE ${USING_TABLE} AND virtualtransaction = ANY($2::text[]) LIMIT 1`,
      [table, transactions],
    );
    if (left.length === 0) return;
  }
}

const USING_TABLE = `relation = to_regclass($1) AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
