import type { Clock } from '@chainstead/core';
import { RequestAbortedError } from './errors.ts';

/** Aborts with the first of two signals, of which a caller may give none. */
export function anySignal(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}

/** @throws RequestAbortedError */
export async function pauseFor(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  method = 'eth_blockNumber',
): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    throw new RequestAbortedError(method, error);
  }
}
