import { type Clock, errorText, type Logger } from '@chainstead/core';
import type { GatewayChain } from '../call.ts';

/** Starts a pool at its first call, since most offered chains are never used. */
export type PoolStart = ReturnType<typeof createPoolStart>;

const RETRY_MS = 1_000;

export function createPoolStart(
  { slug, pool }: GatewayChain,
  { clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger },
) {
  let isStarted = false;
  let pending: Promise<boolean> | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function start(): Promise<boolean> {
    try {
      await pool.start();
      isStarted = true;
    } catch (error) {
      failedAt = clock.now();
      logger.error(
        { chain: slug, reason: errorText(error) },
        'No upstream of the chain can be used by the gateway',
      );
    } finally {
      pending = null;
    }
    return isStarted;
  }

  return {
    get isStarted(): boolean {
      return isStarted;
    },
    /** Once for all concurrent callers. @returns false if no upstream is usable */
    start(): Promise<boolean> {
      if (isStarted) return Promise.resolve(true);
      if (pending === null && clock.now() - failedAt < RETRY_MS) return Promise.resolve(false);
      pending ??= start();
      return pending;
    },
  };
}
