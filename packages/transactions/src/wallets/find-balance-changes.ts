/**
 * Finds the blocks in which an account's balance changed without a known explanation, by bisection. Pure: derives
 * conclusions from the balances read. Unlike a nonce, the unexplained part may rise and fall: changes that cancel out
 * between two sampled blocks leave no trace.
 */
import type { BlockRange } from '@chainstead/core';
import { isSingle, middleOf, type Span } from './halving.ts';

/** Blocks within which a balance changed without explanation. Wei; only the difference of the values has a meaning. */
export interface Change extends Span {
  /** The balance after the block `after`, minus all known movements by then. */
  readonly before: bigint;
  /** The same after the block `until`; it differs. */
  readonly now: bigint;
}

/** Returns the change within a range, from the unexplained amounts at both ends; none if they are equal. */
export function changeIn({ from, to }: BlockRange, before: bigint, now: bigint): readonly Change[] {
  return before === now ? [] : [{ after: from - 1, until: to, before, now }];
}

/**
 * Returns the remaining changes, given the unexplained amounts at some blocks. Ascending, as before.
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

/** Returns the minimum number of balances to read: each span hides one change, or more. */
export function estimateBalances(changes: readonly Change[]): number {
  return changes.reduce((sum, { after, until }) => sum + Math.ceil(Math.log2(until - after)), 0);
}
