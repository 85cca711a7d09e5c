import { type Clock, defineError, systemClock } from '@chainstead/core';

/**
 * The rows of a page are from different moments: a row came without its block. One server returns both of the same moment. Each server of
 * a cluster returns its part at its own moment. A page that is read while blocks are being replaced may have rows of one branch and blocks of the other.
 */
export class InconsistentPageError extends defineError('PAGE_INCONSISTENT', (blockNumber: number) => ({
  message: `Block ${blockNumber} of a row is missing: the page was read while its blocks were being replaced`,
  facts: { blockNumber },
  remedy: 'Retry. If this persists, run `chainstead reindex` for this block',
  retryable: true,
})) {}

/** Until the servers of a cluster have all ended a commit that they are in: it takes milliseconds where all of them answer. */
const WAITS_MS: readonly number[] = [10, 40, 150];

/**
 * Reads a page again, a few times, while it comes torn.
 * @param read throws {@link InconsistentPageError} where the page is
 * @throws {InconsistentPageError} when it still is after {@link WAITS_MS}
 */
export async function readConsistentPage<Page>(
  read: () => Promise<Page>,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<Page> {
  for (const wait of WAITS_MS)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof InconsistentPageError)) throw error;
      await clock.sleep(wait);
    }
  return read();
}
