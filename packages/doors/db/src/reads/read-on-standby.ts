import type { SessionClient } from '../connections/session-client.ts';
import { DatabaseError } from '../database-error.ts';
import { parseWalPosition, type WalPosition } from './wal-position.ts';

export interface StandbyRead<Row> {
  readonly rows: Row[];
  /** Every commit up to here is included. */
  readonly from: WalPosition;
  /** No commit after this is included. */
  readonly to: WalPosition;
}

/** Later statements see everything replayed. */
const BEFORE = 'SELECT pg_last_wal_replay_lsn()::text AS replayed';

/**
 * A record takes effect before it counts as replayed: rows may include the next one, if more was
 * received or the WAL comes from an archive. So one byte more.
 */
const AFTER = `
  SELECT pg_is_in_recovery() AS follows, (CASE WHEN received = replayed THEN replayed ELSE replayed + 1 END)::text AS reached
  FROM (SELECT pg_last_wal_replay_lsn() AS replayed, pg_last_wal_receive_lsn() AS received) AS log`;

/** One trip: another query may reach another server. @throws {DatabaseError} DATABASE_NO_STANDBY */
export async function readOnStandby<Row extends object>(
  client: SessionClient,
  text: string,
  values: readonly unknown[],
): Promise<StandbyRead<Row>> {
  const repeats = client.repeats;
  // All awaited: nothing runs on the connection afterwards.
  const [before, read, after] = await Promise.allSettled([
    client.queryPrepared<{ replayed: string | null }>(BEFORE, []),
    client.queryPrepared<Row>(text, [...values]),
    client.queryPrepared<{ follows: boolean; reached: string | null }>(AFTER, []),
  ]);
  if (read.status === 'rejected') throw read.reason;
  if (before.status === 'rejected') throw before.reason;
  if (after.status === 'rejected') throw after.reason;
  // A repeated statement ran after the others: their positions are wrong.
  if (client.repeats !== repeats) return readOnStandby(client, text, values);
  const [replayed, reached] = [before.value[0]?.replayed, after.value[0]?.reached];
  if (after.value[0]?.follows !== true || typeof replayed !== 'string' || typeof reached !== 'string')
    throw noStandby();
  return { rows: read.value, from: parseWalPosition(replayed), to: parseWalPosition(reached) };
}

export function noStandby(): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_NO_STANDBY',
    message: 'it replays no WAL: it is the primary, or not a streaming standby',
    retryable: true,
  });
}
