import { type Transaction, transactionLock } from '@chainstead/db';

/** The one row is made by the migration. */
const VERSION_ROW = 1;
/**
 * The door to the version's row: those who share a row's lock let others join them for ever, so that with many chains no change would
 * get through. Who holds the version only passes the door; who changes it keeps the door shut until its transaction ends.
 */
const DOOR = 'streams-version';

/** A row lock that was taken after a savepoint is given back by the return to it. */
const PASS_THE_DOOR = `SAVEPOINT door; SELECT name FROM locks WHERE name = '${DOOR}' FOR UPDATE; ROLLBACK TO SAVEPOINT door; RELEASE SAVEPOINT door`;

interface VersionRow {
  readonly version: number;
}

/**
 * Raises the configuration's version, before anything else in the transaction is touched: the row's lock orders changes
 * among each other and against blocks, which hold it FOR SHARE. @returns the version that the change carries.
 */
export async function raiseStreamsVersion(transaction: Transaction): Promise<number> {
  await transactionLock(transaction, DOOR);
  const rows = await transaction.query<VersionRow>(
    'UPDATE streams_version SET version = version + 1 WHERE id = $1 RETURNING version',
    [VERSION_ROW],
  );
  return versionOf(rows);
}

/** Those that hold the version: a change that waits for them keeps the door shut, so at the door both would wait for ever. */
const holders = new WeakSet<Transaction>();

/** The version that applies to a block, held until its transaction ends: no change can commit in between. May be called again. */
export async function holdStreamsVersion(transaction: Transaction): Promise<number> {
  const [, rows] = await transaction.together(() => [
    holders.has(transaction) ? Promise.resolve([]) : transaction.query(PASS_THE_DOOR),
    transaction.query<VersionRow>('SELECT version FROM streams_version WHERE id = $1 FOR SHARE', [VERSION_ROW]),
  ]);
  holders.add(transaction);
  return versionOf(rows);
}

function versionOf([row]: readonly VersionRow[]): number {
  if (row === undefined) throw new TypeError('streams_version has lost its row');
  return row.version;
}
