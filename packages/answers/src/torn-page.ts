import { ChainsteadError, type Clock, systemClock } from '@chainstead/core';

/**
 * What a page shows is not of one moment: a row came without its block. One server gives both as of the same moment. On a cluster each server gives
 * its part as of its own, so that a page which is read while blocks are being replaced may have rows of one branch and blocks of the other.
 */
export class TornPageError extends ChainsteadError {
  constructor(blockNumber: number) {
    super({
      code: 'PAGE_TORN',
      message: `A page was read while its blocks were being replaced: block ${blockNumber} of a row is not in the database`,
      facts: { blockNumber },
      remedy: 'If it stays so, read the block again: chainstead reindex',
      retryable: true,
    });
  }
}

/** Until the servers of a cluster have all ended a commit that they are in: it takes milliseconds where all of them answer. */
const WAITS_MS: readonly number[] = [10, 40, 150];

/**
 * Reads a page again, a few times, while it comes torn.
 * @param read throws {@link TornPageError} where the page is
 * @throws {TornPageError} when it still is after {@link WAITS_MS}
 */
export async function readUntorn<Page>(
  read: () => Promise<Page>,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<Page> {
  for (const wait of WAITS_MS)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof TornPageError)) throw error;
      await clock.sleep(wait);
    }
  return read();
}
