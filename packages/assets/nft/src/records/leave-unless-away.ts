import { isOutage } from '@chainstead/db';

/** If the database is unavailable for writes, the response is still returned; the next request queues the work. */
export async function leaveUnlessAway(leave: () => Promise<unknown>): Promise<void> {
  try {
    await leave();
  } catch (error) {
    if (!isOutage(error)) throw error;
  }
}
