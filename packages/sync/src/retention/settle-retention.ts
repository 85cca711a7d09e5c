import { errorText } from '@chainstead/core';
import { finishDropping, type RetentionOptions } from './keep-retention.ts';
import { type SinceOptions, settleKeptSince } from './settle-since.ts';

const TRY_AGAIN_MS = 5_000;

/**
 * What has to be done before history is filled: what an earlier process left half dropped is gone, so that nothing which is filled goes with it, and
 * the first block that is kept is known. Tries until both are done; rejects only when the signal aborts.
 */
export async function settleRetention(options: RetentionOptions & SinceOptions, signal: AbortSignal): Promise<void> {
  const { chain, clock, logger } = options;
  for (;;) {
    try {
      if (await finishDropping(options, signal)) return await settleKeptSince(options, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'What is kept of history could not be settled, filling it waits; it is tried again',
      );
    }
    await clock.sleep(TRY_AGAIN_MS, signal);
  }
}
