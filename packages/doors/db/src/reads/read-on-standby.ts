import type { SessionClient } from '../connections/session-client.ts';
import { DatabaseError } from '../database-error.ts';
import { parseWalPosition, type WalPosition } from './wal-position.ts';

export interface StandbyRead<Row> {
  readonly rows: Row[];
  /** The rows include every commit up to here. */
  readonly from: WalPosition;
  /** The rows include no commit after this: a server that has replayed up to here returns no older state. */
  readonly to: WalPosition;
}

/** Statements that begin later see everything replayed until now. */
const BEFORE = 'SELECT pg_last_wal_replay_lsn()::text AS replayed';

/**
 * A record takes effect before it counts as replayed, so rows may include the record after `replayed`. It exists only if
 * more was received than replayed, or if the WAL comes from an archive. One byte more then requires it elsewhere too.
 */
const AFTER = `
  SELECT pg_is_in_recovery() AS follows, (CASE WHEN received = replayed THEN replayed ELSE replayed + 1 END)::text AS reached
  FROM (SELECT pg_last_wal_replay_lsn() AS replayed, pg_last_wal_receive_lsn() AS received) AS log`;

/**
 * Both positions come from the server that returned the rows, in one round trip of a pipelining client. A separate query
 * could be too early or late, or reach another server behind the same name.
 * @throws {DatabaseError} DATABASE_NO_STANDBY; errors of the statement
 */
export async function readOnStandby<Row extends object>(
  client: SessionClient,
  text: string,
  values: readonly unknown[],
): Promise<StandbyRead<Row>> {
  const repeats = client.repeats;
  // All are awaited, so that nothing runs on the connection afterwards.
  const [before, read, after] = await Promise.allSettled([
    client.queryPrepared<{ replayed: string | null }>(BEFORE, []),
    client.queryPrepared<Row>(text, [...values]),
    client.queryPrepared<{ follows: boolean; reached: string | null }>(AFTER, []),
  ]);
  if (read.status === 'rejected') throw read.reason;
  if (before.status === 'rejected') throw before.reason;
  if (after.status === 'rejected') throw after.reason;
  // A repeated statement ran after the others, so their positions are wrong.
  if (client.repeats !== repeats) return readOnStandby(client, text, values);
  const [replayed, reached] = [before.value.rows[0]?.replayed, after.value.rows[0]?.reached];
  if (after.value.rows[0]?.follows !== true || typeof replayed !== 'string' || typeof reached !== 'string')
    throw noStandby();
  return { rows: read.value.rows, from: parseWalPosition(replayed), to: parseWalPosition(reached) };
}

export function noStandby(): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_NO_STANDBY',
    message: 'it replays no WAL: it is the primary, or not a streaming standby',
    retryable: true,
  });
}
