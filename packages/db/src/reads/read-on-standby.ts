import { DatabaseError } from '../database-error.ts';
import type { SessionClient } from '../session-client.ts';
import { parseWalPosition, type WalPosition } from './wal-position.ts';

/** Rows that a standby gave, and which state of the log they are of. */
export interface StandbyRead<Row> {
  readonly rows: Row[];
  /** The rows show everything that was committed up to here. */
  readonly from: WalPosition;
  /** The rows show nothing that was committed behind this: a server that has replayed so far shows no older state. */
  readonly to: WalPosition;
}

/** What a standby has replayed is seen by every statement that begins afterwards. */
const BEFORE = 'SELECT pg_last_wal_replay_lsn()::text AS replayed';

/**
 * A record takes effect before it counts as replayed, so that rows may show the one behind `replayed`; it is there only where more was
 * received than replayed, or where the log comes from an archive. Then one byte more makes other standbys have that record, too.
 */
const AFTER = `
  SELECT pg_is_in_recovery() AS follows, (CASE WHEN received = replayed THEN replayed ELSE replayed + 1 END)::text AS reached
  FROM (SELECT pg_last_wal_replay_lsn() AS replayed, pg_last_wal_receive_lsn() AS received) AS log`;

/**
 * Asks a standby. Both positions come from the server that gave the rows and travel with them, in one round trip of a client that pipelines:
 * what a look from outside says would be of before or after, or of another server behind the same name.
 * @throws {DatabaseError} DATABASE_NO_STANDBY; what the statement throws
 */
export async function readOnStandby<Row extends object>(
  client: SessionClient,
  text: string,
  values: readonly unknown[],
): Promise<StandbyRead<Row>> {
  const repeats = client.repeats;
  // All of them, so that nothing is under way on the connection afterwards.
  const [before, read, after] = await Promise.allSettled([
    client.run<{ replayed: string | null }>(BEFORE, []),
    client.run<Row>(text, [...values]),
    client.run<{ follows: boolean; reached: string | null }>(AFTER, []),
  ]);
  if (read.status === 'rejected') throw read.reason;
  if (before.status === 'rejected') throw before.reason;
  if (after.status === 'rejected') throw after.reason;
  // One of them was prepared anew, and came behind the others.
  if (client.repeats !== repeats) return readOnStandby(client, text, values);
  const [replayed, reached] = [before.value.rows[0]?.replayed, after.value.rows[0]?.reached];
  if (after.value.rows[0]?.follows !== true || typeof replayed !== 'string' || typeof reached !== 'string')
    throw noStandby();
  return { rows: read.value.rows, from: parseWalPosition(replayed), to: parseWalPosition(reached) };
}

/** It may have been one until now. */
export function noStandby(): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_NO_STANDBY',
    message: 'it replays no log: it is the primary, or no streaming standby',
    retryable: true,
  });
}
