/** What becomes of a range that could not be read or written: tried again, whole or in halves, or given up. */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, errorText, type Logger } from '@chainstead/core';

/** What trying again needs to know. */
export interface RangeTrying {
  readonly chain: Chain;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RETRY_DELAY_MS = 1_000;

/** What `once` gives for a range that is to be tried again in halves. */
export const FAILED = Symbol('failed');

/**
 * Reads a range of several blocks. What fails for a reason that may pass is tried again in halves: among many calls one may fail
 * each time, and what was read besides would be for nothing each time.
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
    await restAfter(
      options,
      range,
      error,
      { delayMs: RETRY_DELAY_MS, told: 'Range failed, trying again in halves' },
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

async function restAfter(
  { chain, logger, clock }: RangeTrying,
  { from, to }: BlockRange,
  error: unknown,
  { delayMs, told }: { readonly delayMs: number; readonly told: string },
  signal: AbortSignal,
): Promise<void> {
  const fields = { chain: chain.key, block_range: `${from}-${to}`, error: errorText(error), retry_in_ms: delayMs };
  logger.warn(fields, told);
  await clock.sleep(delayMs, signal);
}

/** Tries again what failed for a reason that may pass, for as long as the signal allows. */
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
      await restAfter(options, range, error, { delayMs: delay, told: 'Range failed, trying again' }, signal);
    }
  }
}

/** The claim is gone (someone else has the range), or the error says itself that trying again is pointless. */
export function isFinal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'RANGE_CLAIMED' || code === 'UNPROVEN_BLOCK';
}
