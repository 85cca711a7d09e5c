import { type Clock, defineError, systemClock } from '@chainstead/core';

/** Servers of a cluster return their parts at different moments. Rows and blocks may be of two branches. */
export class InconsistentPageError extends defineError('PAGE_INCONSISTENT', (blockNumber: number) => ({
  message: `Block ${blockNumber} of a row is missing: the page was read while its blocks were being replaced`,
  facts: { blockNumber },
  remedy: 'Retry. If this persists, run `chainstead reindex` for this block',
  retryable: true,
})) {}

const WAITS_MS: readonly number[] = [10, 40, 150];

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
