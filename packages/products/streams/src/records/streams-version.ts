import { rawSql, sql, type Transaction, transactionLock } from '@chainstead/db';

const VERSION_ROW = 1;
/**
 * Shared row locks admit new sharers without end, so a change would wait forever: sharers pass
 * this lock, and a change holds it until its transaction ends.
 */
const DOOR = 'streams-version';

/** ROLLBACK TO SAVEPOINT releases row locks taken after the savepoint. */
const PASS_THE_DOOR = sql`SAVEPOINT door; SELECT name FROM transaction_locks WHERE name = '${rawSql(DOOR)}' FOR UPDATE; ROLLBACK TO SAVEPOINT door; RELEASE SAVEPOINT door`;

/** Must be first in the transaction: orders changes among each other and against blocks. */
export async function raiseStreamsVersion(transaction: Transaction): Promise<number> {
  await transactionLock(transaction, DOOR);
  const rows = await transaction.query<{ version: number }>(
    sql`UPDATE streams_version SET version = version + 1 WHERE id = ${VERSION_ROW} RETURNING version`,
  );
  return versionOf(rows);
}

/** A waiting change holds the outer lock: taking it again would deadlock. */
const holders = new WeakSet<Transaction>();

/** No change commits until the transaction ends. Can be repeated. */
export async function holdStreamsVersion(transaction: Transaction): Promise<number> {
  const [, rows] = await transaction.together(() => [
    holders.has(transaction) ? Promise.resolve([]) : transaction.query(PASS_THE_DOOR),
    transaction.query<{ version: number }>(
      sql`SELECT version FROM streams_version WHERE id = ${VERSION_ROW} FOR SHARE`,
    ),
  ]);
  holders.add(transaction);
  return versionOf(rows);
}

function versionOf([row]: readonly { readonly version: number }[]): number {
  if (row === undefined) throw new TypeError('streams_version has lost its row');
  return row.version;
}
