import { ChainsteadError } from '@chainstead/core';
import { RequestAbortedError } from '@chainstead/rpc';
import { StateUnavailableError } from '../state-error.ts';

export type Settled<T> = { readonly value: T } | { readonly unread: ChainsteadError };

/** Time for the rest once half have ended, or twice the time of that half. */
const LATE_MS = 750;
/** If this many fail first, no node is there: the others are aborted. */
const FAULTS_MAX = 5;

export const TOO_LATE = new StateUnavailableError('A contract responds far slower than others and was skipped');

/** A failure or delay spoils no other. @throws RequestAbortedError if the caller aborted */
export async function settleTogether<Item, T>(
  items: readonly Item[],
  work: (item: Item, late: AbortSignal) => Promise<T>,
): Promise<Settled<T>[]> {
  const late = new AbortController();
  const began = performance.now();
  let ended = 0;
  let faults = 0;
  let timer: NodeJS.Timeout | undefined;

  async function settle(item: Item): Promise<Settled<T>> {
    try {
      return { value: await work(item, late.signal) };
    } catch (error) {
      if (!isUnread(error, late.signal)) throw error;
      if (error instanceof RequestAbortedError) return { unread: TOO_LATE };
      if (++faults === FAULTS_MAX && ended < faults) late.abort();
      return { unread: error };
    } finally {
      if (++ended * 2 >= items.length)
        timer ??= setTimeout(() => late.abort(), Math.max(LATE_MS, 2 * (performance.now() - began)));
    }
  }

  try {
    return await Promise.all(items.map(settle));
  } finally {
    clearTimeout(timer);
  }
}

/** False if the caller aborted all of it, or this program is at fault. */
export function isUnread(error: unknown, late: AbortSignal): error is ChainsteadError {
  return error instanceof ChainsteadError && (late.aborted || !(error instanceof RequestAbortedError));
}

/** Null if something was read, or nothing was asked. */
export function whyNothing(
  settled: readonly { readonly unread?: ChainsteadError | undefined }[],
): ChainsteadError | null {
  const reasons = settled.flatMap(({ unread }) => unread ?? []);
  if (reasons.length < settled.length) return null;
  return reasons.find((reason) => reason !== TOO_LATE) ?? reasons[0] ?? null;
}
