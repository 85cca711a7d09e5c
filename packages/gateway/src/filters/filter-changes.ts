import type { FeedBlock } from '../subscriptions/feed-block.ts';
import type { ToldBlock } from './filter-store.ts';

/** What a client has not been told yet. */
export interface FilterChanges {
  /** Told, and abandoned since. Newest first. */
  readonly removed: readonly ToldBlock[];
  /** Oldest first. */
  readonly added: readonly FeedBlock[];
  /** What the client was told of, these changes included. */
  readonly told: readonly ToldBlock[];
}

/** Blocks that a filter remembers, to find where a reorganisation began. */
export const TOLD_MAX = 64;

/**
 * What leads from what a client was told to the newest of the given blocks, which follow each other and begin no later
 * than the client's newest block that still counts, where there is one.
 * @param blocksMax most blocks that are told at once; the rest is told the next time
 * @returns null where the blocks end before the client's do: then this process lags, and the client is told nothing yet
 */
export function changesSince(
  told: readonly ToldBlock[],
  blocks: readonly FeedBlock[],
  blocksMax: number,
): FilterChanges | null {
  const [tip, last] = [blocks.at(-1), told.at(-1)];
  if (tip === undefined || last === undefined || tip.number < last[0]) return null;
  const hashes = new Set<string>(blocks.map(({ hash }) => hash));
  const fork = told.findLastIndex(([, hash]) => hashes.has(hash));
  const removed = told.slice(fork + 1).toReversed();
  const from = told[fork]?.[0] ?? (told[0]?.[0] ?? 0) - 1;
  const added = blocks.filter(({ number }) => number > from).slice(0, blocksMax);
  return { removed, added, told: toldAfter(told.slice(0, fork + 1), added) };
}

/** What a client knows that was told these blocks, too. */
export function toldAfter(told: readonly ToldBlock[], added: readonly FeedBlock[]): readonly ToldBlock[] {
  return [...told, ...added.map(({ number, hash }): ToldBlock => [number, hash])].slice(-TOLD_MAX);
}
