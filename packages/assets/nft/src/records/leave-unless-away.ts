import { isOutage } from '@chainstead/db';

/** For an outage of writes: the next request queues the work. */
export async function leaveUnlessAway(leave: () => Promise<unknown>): Promise<void> {
  try {
    await leave();
  } catch (error) {
    if (!isOutage(error)) throw error;
  }
}
