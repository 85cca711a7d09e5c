import type { Hash } from '@chainstead/core';

export interface TimedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface Neighbours {
  readonly below: TimedBlock | null;
  /** First block that is not earlier, right after `below`; null: the head is earlier. */
  readonly from: TimedBlock | null;
}

export const CLOSEST = ['nearest', 'before', 'after'] as const;
export type Closest = (typeof CLOSEST)[number];

/** `before`: at or before; `after`: at or after; `nearest`: the earlier on a tie. Null: unknown. */
export async function closestBlock(
  time: number,
  closest: Closest,
  neighbours: (time: number) => Promise<Neighbours | null>,
): Promise<TimedBlock | null> {
  const around = await neighbours(time);
  if (around === null) return null;
  const { below, from } = around;
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
  return (await neighbours(below.timestamp))?.from ?? null;
}
