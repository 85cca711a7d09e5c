/**
 * Where in history an account's balance changed in a way that nothing explains which is known of it, by asking for the balance at ever fewer blocks.
 * Pure: says what follows from the answers. Unlike a count of transactions, what is not explained may rise and fall: changes that cancel out between
 * two blocks that are asked about leave no trace.
 */
import type { BlockRange } from '@chainstead/core';
import { isSingle, middleOf, type Span } from './halving.ts';

/** Blocks within which a balance changed unexplained. Wei; only their difference has a meaning. */
export interface Change extends Span {
  /** The balance after the block `after`, less all that is known to have come and gone by then. */
  readonly before: bigint;
  /** The same after the block `until`: another one. */
  readonly now: bigint;
}

/** The change within a range, by what is left unexplained at both ends; none where that is the same. */
export function changeIn({ from, to }: BlockRange, before: bigint, now: bigint): readonly Change[] {
  return before === now ? [] : [{ after: from - 1, until: to, before, now }];
}

/**
 * What is left of the changes once it is known what is unexplained at some blocks. Ascending, as they were.
 * @param unexplained by block
 */
export function narrowChanges(changes: readonly Change[], unexplained: ReadonlyMap<number, bigint>): readonly Change[] {
  return changes.flatMap((change) => {
    const middle = middleOf(change);
    const between = isSingle(change) ? undefined : unexplained.get(middle);
    if (between === undefined) return [change];
    return [
      ...(between === change.before ? [] : [{ ...change, until: middle, now: between }]),
      ...(between === change.now ? [] : [{ ...change, after: middle, before: between }]),
    ];
  });
}

/** How many balances will have to be asked for at least: each stretch hides one change, or more. */
export function estimateBalances(changes: readonly Change[]): number {
  return changes.reduce((sum, { after, until }) => sum + Math.ceil(Math.log2(until - after)), 0);
}
