import { isOutage } from '@chainstead/db';

/**
 * Leaves work for later beside an answer that is known. Where the database can't take it down, which its connections tell of, the answer is given
 * all the same, and the next one leaves it: on a cluster, pages of one node are read while another, where the work would be written, is away.
 */
export async function leaveUnlessAway(leave: () => Promise<unknown>): Promise<void> {
  try {
    await leave();
  } catch (error) {
    if (!isOutage(error)) throw error;
  }
}
