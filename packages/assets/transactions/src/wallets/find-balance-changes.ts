/** Pure bisection. Changes that cancel out between samples leave no trace. */
import type { BlockRange } from '@chainstead/core';
import { isSingle, middleOf, type SearchSpan } from './halving.ts';

/** Wei; only differences have a meaning. */
export interface BalanceChange extends SearchSpan {
  /** Balance after the block `after`, minus all known movements. */
  readonly before: bigint;
  /** The same after the block `until`; it differs. */
  readonly now: bigint;
}

export function changeIn({ from, to }: BlockRange, before: bigint, now: bigint): readonly BalanceChange[] {
  return before === now ? [] : [{ after: from - 1, until: to, before, now }];
}

export function narrowChanges(
  changes: readonly BalanceChange[],
  unexplained: ReadonlyMap<number, bigint>,
): readonly BalanceChange[] {
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

export function estimateBalances(changes: readonly BalanceChange[]): number {
  return changes.reduce((sum, { after, until }) => sum + Math.ceil(Math.log2(until - after)), 0);
}
