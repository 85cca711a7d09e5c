import type { Hash } from '@chainstead/core';

/** The fields of a block that a search by time needs. */
export interface TimedBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Null if unknown. */
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** The position of a time in a chain: times never decrease with block numbers. */
export interface Neighbours {
  /** The last earlier block; null: the first block is not earlier. */
  readonly below: TimedBlock | null;
  /** The first block that is not earlier, right after the other; null: the head is earlier. */
  readonly from: TimedBlock | null;
}

export const CLOSEST = ['nearest', 'before', 'after'] as const;
/** Which of the blocks around a time to return. */
export type Closest = (typeof CLOSEST)[number];

/**
 * Returns the block closest to a time: `before` the last one at or before it, `after` the first one at or after it.
 * `nearest` is the nearer of both, on a tie the earlier one. If several blocks have one time, `before` returns the
 * last, the others the first. A time after the head returns the head, one before the first block the first.
 * @param time Unix seconds, possibly with a fraction
 * @param neighbours of a time; null if they are unknown, and so is the result
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

/** Returns the first of the blocks with this one's time. */
async function firstOf(
  block: TimedBlock,
  neighbours: (time: number) => Promise<Neighbours | null>,
): Promise<TimedBlock | null> {
  const found = await neighbours(block.timestamp);
  return found?.from ?? null;
}
