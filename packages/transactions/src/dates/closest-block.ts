import type { Hash } from '@chainstead/core';

/** A block as far as a search by time needs it. */
export interface TimedBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Null where it is not known. */
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** Where a time lies in a chain: times never fall as numbers rise. */
export interface Neighbours {
  /** The last block that is earlier; null: the first block is not. */
  readonly below: TimedBlock | null;
  /** The first block that is not earlier, right behind the other; null: the head is earlier. */
  readonly from: TimedBlock | null;
}

export const CLOSEST = ['nearest', 'before', 'after'] as const;
/** Which of the blocks around a time is meant. */
export type Closest = (typeof CLOSEST)[number];

/**
 * The block that is closest to a time: `before` the last one at or before it, `after` the first one at or after it, `nearest` the nearer of both, at a
 * tie the earlier one. Of several blocks with one time `before` gives the last, the others the first. What lies ahead of the head gives the head, what
 * lies before the first block the first.
 * @param time Unix seconds, with a fraction where it lies between two of them
 * @param neighbours of a time; null where they are not known, and so is the answer
 */
export async function closestBlock(
  time: number,
  closest: Closest,
  neighbours: (time: number) => Promise<Neighbours | null>,
): Promise<TimedBlock | null> {
  const found = await neighbours(time);
  if (found === null) return null;
  const { below, from } = found;
  if (from === null) return below;
  if (closest === 'after') return from;
  if (from.timestamp === time) {
    if (closest === 'nearest') return from;
    const next = await neighbours(time + 1);
    return next === null ? null : next.below;
  }
  if (below === null) return from;
  if (closest === 'before') return below;
  if (from.timestamp - time < time - below.timestamp) return from;
  return firstOf(below, neighbours);
}

/** The first of the blocks that have this one's time. */
async function firstOf(
  block: TimedBlock,
  neighbours: (time: number) => Promise<Neighbours | null>,
): Promise<TimedBlock | null> {
  const found = await neighbours(block.timestamp);
  return found?.from ?? null;
}
