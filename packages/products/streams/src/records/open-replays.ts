import { sql, type Transaction, transactionLock } from '@chainstead/db';
import { TooManyReplaysError } from './bound-errors.ts';

export const REPLAYS_PER_KEY = 1_000;

/** Serializes requests of the key. @returns free slots @throws TooManyReplaysError */
export async function requireRoomForReplay(
  transaction: Transaction,
  requestedBy: string,
  replaysPerKey: number,
): Promise<number> {
  await transactionLock(transaction, `replays:${requestedBy}`);
  const [row] = await transaction.query<{ waiting: number }>(
    sql`SELECT count(*)::int AS waiting FROM stream_deliveries WHERE status = 'pending' AND requested_by = ${requestedBy}`,
  );
  const waiting = row?.waiting ?? 0;
  if (waiting >= replaysPerKey) throw new TooManyReplaysError(waiting, replaysPerKey);
  return replaysPerKey - waiting;
}
