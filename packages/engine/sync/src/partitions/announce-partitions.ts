import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '@chainstead/db';

const LOOK_AGAIN_MS = 10;
/** A longer transaction has listed partitions and taken its snapshot already. */
const PATIENCE_MS = 1_000;

/**
 * Call it before rows are written to new partitions. Attaching blocks nothing, which leaves two
 * gaps (Postgres 18.4):
 * - A session that lists partitions then got the invalidation too early. So another is sent later.
 * - An earlier statement may take its snapshot after rows were written, and see coverage without
 * rows. So transactions on the table are awaited.
 */
export async function announcePartitions(database: Database, table: string): Promise<void> {
  await awaitPresentUsers(database, table);
  await announceAgain(database, table);
  await awaitPresentUsers(database, table);
}

/** For a partition that a killed process may not have announced. */
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
