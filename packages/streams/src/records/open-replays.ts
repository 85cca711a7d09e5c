import { type Transaction, transactionLock } from '@chainstead/db';
import { TooManyReplaysError } from './bound-errors.ts';

/** Webhooks that one key may have asked for (replays, single blocks) and that have not been sent yet. */
export const REPLAYS_PER_KEY = 1_000;

/**
 * Requests of one key are counted one at a time until their transaction ends, or many at once would all find room for one more.
 * @returns for how many there is room, at least one @throws TooManyReplaysError
 */
export async function requireRoomForReplay(
  transaction: Transaction,
  requestedBy: string,
  replaysPerKey: number,
): Promise<number> {
  await transactionLock(transaction, `replays:${requestedBy}`);
  const [row] = await transaction.query<{ waiting: number }>(
    "SELECT count(*)::int AS waiting FROM stream_deliveries WHERE status = 'pending' AND requested_by = $1",
    [requestedBy],
  );
  const waiting = row?.waiting ?? 0;
  if (waiting >= replaysPerKey) throw new TooManyReplaysError(waiting, replaysPerKey);
  return replaysPerKey - waiting;
}
