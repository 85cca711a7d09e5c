/**
 * Where in history an account's count of transactions changed, found by asking for the count at ever fewer blocks. Pure: says which blocks to ask
 * about, and what follows from the answers. A count never falls, and each transaction that an account sends raises it by one, so that between two
 * blocks of the same count nothing was sent, and nothing is missed.
 */
import { type BlockRange, ChainsteadError } from '@chainstead/core';
import { isSingle, middleOf, type Span } from './halving.ts';

/** Blocks within which a count changed. */
export interface Stretch extends Span {
  /** The count after the block `after`. */
  readonly countBefore: number;
  /** The count after the block `until`: higher. */
  readonly count: number;
}

/** The stretch of a range whose counts at both ends are known; none where nothing changed. @throws UnlikelyCountError for one that falls */
export function stretchOf({ from, to }: BlockRange, countBefore: number, count: number): readonly Stretch[] {
  if (count < countBefore) throw new UnlikelyCountError(to, count, { least: countBefore, most: null });
  return count === countBefore ? [] : [{ after: from - 1, until: to, countBefore, count }];
}

/**
 * What is left of the stretches once the counts at some blocks are known. Ascending, as they were.
 * @param counts by block
 * @throws UnlikelyCountError for a count that is not between those around it
 */
export function narrow(stretches: readonly Stretch[], counts: ReadonlyMap<number, number>): readonly Stretch[] {
  return stretches.flatMap((stretch) => {
    const middle = middleOf(stretch);
    const count = isSingle(stretch) ? undefined : counts.get(middle);
    if (count === undefined) return [stretch];
    const { countBefore: least, count: most } = stretch;
    if (count < least || count > most) throw new UnlikelyCountError(middle, count, { least, most });
    return [
      ...(count > least ? [{ ...stretch, until: middle, count }] : []),
      ...(count < most ? [{ ...stretch, after: middle, countBefore: count }] : []),
    ];
  });
}

/**
 * About how many counts will have to be asked for: the changes part the stretch evenly at worst, share the first halvings, and have
 * the rest each to themselves.
 */
export function estimateCounts(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { after, until, countBefore, count }) => {
    const blocks = until - after;
    const changes = Math.min(count - countBefore, blocks);
    return sum + changes * (1 + Math.ceil(Math.log2(blocks / changes)));
  }, 0);
}

/** A node gave a count of transactions that can't be, by those that it gave before: it stands on another branch, or is broken. */
export class UnlikelyCountError extends ChainsteadError {
  constructor(block: number, count: number, { least, most }: { readonly least: number; readonly most: number | null }) {
    super({
      code: 'UNLIKELY_TRANSACTION_COUNT',
      message: `A node counts ${count} transactions at block ${block}, where at least ${least}${most === null ? '' : ` and at most ${most}`} were sent`,
      facts: { block, count, least, most },
      remedy: 'Check that all upstreams of the chain follow it; it is tried again',
      retryable: true,
    });
  }
}
