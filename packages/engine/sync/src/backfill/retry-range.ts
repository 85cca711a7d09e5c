import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, errorText, type Logger } from '@chainstead/core';
import { RangeTooLargeError } from '@chainstead/rpc';

export interface RangeTrying {
  readonly chain: Pick<Chain, 'key'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** In the log. @default block */
  readonly unit?: 'version';
}

const RETRY_DELAY_MS = 1_000;

export const FAILED = Symbol('failed');

/** Transient failures return `FAILED`: among many calls one may always fail, and lose all. */
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
    if (!(error instanceof RangeTooLargeError))
      await waitToRetry(options, range, error, 'Range failed, trying again in halves', signal);
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

export async function waitToRetry(
  { chain, logger, clock, unit, delayMs = RETRY_DELAY_MS }: RangeTrying & { readonly delayMs?: number },
  { from, to }: BlockRange,
  error: unknown,
  message: string,
  signal: AbortSignal,
) {
  const place = { chain: chain.key, [`${unit ?? 'block'}_range`]: `${from}-${to}` };
  logger.warn({ ...place, error: errorText(error), retry_in_ms: delayMs }, message);
  await clock.sleep(delayMs, signal);
}

export async function untilItSucceeds<T>(
  options: RangeTrying,
  range: BlockRange,
  signal: AbortSignal,
  attempt: () => Promise<T>,
  givesUp: (error: unknown) => boolean = isFinal,
): Promise<T> {
  for (let delayMs = RETRY_DELAY_MS; ; delayMs = Math.min(delayMs * 2, 30_000)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (givesUp(error)) throw error;
      await waitToRetry({ ...options, delayMs }, range, error, 'Range failed, trying again', signal);
    }
  }
}

export function isFinal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'RANGE_CLAIMED' || code === 'UNPROVEN_BLOCK';
}
