import { isOutage } from '@chainstead/db';

/**
 * If the database is unavailable for writes, the response is still returned and the next request queues the work.
 * On a cluster, one node's pages stay readable while another node, to which the work would be written, is down.
 */
export async function leaveUnlessAway(leave: () => Promise<unknown>): Promise<void> {
  try {
    await leave();
  } catch (error) {
    if (!isOutage(error)) throw error;
  }
}
