/** Handling of a range that could not be read or written: retried whole or in halves, or given up. */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, errorText, type Logger } from '@chainstead/core';
import { RangeTooLargeError } from '@chainstead/rpc';

/** Dependencies of a retry. */
export interface RangeTrying {
  readonly chain: Chain;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RETRY_DELAY_MS = 1_000;

/** Returned by `once` for a range to retry in halves. */
export const FAILED = Symbol('failed');

/**
 * Reads a range of several blocks once. A transient failure returns `FAILED`, so that the range is retried in halves:
 * among many calls one may fail each time, and all other reads would be lost each time.
 */
export async function once<T>(
  options: RangeTrying,
  range: BlockRange,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T | typeof FAILED> {
  try {
    return await attempt();
  } catch (error) {
    signal.throwIfAborted();
    if (isFinal(error)) throw error;
    if (error instanceof RangeTooLargeError) return FAILED;
    await waitToRetry(
      options,
      range,
      error,
      { delayMs: RETRY_DELAY_MS, message: 'Range failed, trying again in halves' },
      signal,
    );
    return FAILED;
  }
}

export function halvesOf(order: 'newest-first' | 'oldest-first', { from, to }: BlockRange): BlockRange[] {
  const middle = from + Math.floor((to - from) / 2);
  const halves = [
    { from, to: middle },
    { from: middle + 1, to },
  ];
  return order === 'newest-first' ? halves.toReversed() : halves;
}

async function waitToRetry(
  { chain, logger, clock }: RangeTrying,
  { from, to }: BlockRange,
  error: unknown,
  { delayMs, message }: { readonly delayMs: number; readonly message: string },
  signal: AbortSignal,
): Promise<void> {
  const fields = { chain: chain.key, block_range: `${from}-${to}`, error: errorText(error), retry_in_ms: delayMs };
  logger.warn(fields, message);
  await clock.sleep(delayMs, signal);
}

/** Retries transient failures until the signal aborts. */
export async function untilItSucceeds<T>(
  options: RangeTrying,
  range: BlockRange,
  signal: AbortSignal,
  attempt: () => Promise<T>,
  givesUp: (error: unknown) => boolean = isFinal,
): Promise<T> {
  for (let delay = RETRY_DELAY_MS; ; delay = Math.min(delay * 2, 30_000)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (givesUp(error)) throw error;
      await waitToRetry(options, range, error, { delayMs: delay, message: 'Range failed, trying again' }, signal);
    }
  }
}

/** Returns whether a retry is pointless: the claim is lost to another process, or the error is permanent. */
export function isFinal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'RANGE_CLAIMED' || code === 'UNPROVEN_BLOCK';
}
