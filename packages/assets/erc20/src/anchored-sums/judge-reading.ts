import type { Said } from '../calls/fetch-balances.ts';

interface Reading {
  readonly first: bigint | null;
  /** Another upstream's at the same block; undefined: not read yet. */
  readonly second: Said | undefined;
  /** From transfers; null if some aren't indexed, or if they don't determine balances. */
  readonly expected: { readonly value: bigint; readonly hasMoved: boolean } | null;
}

/** `none`: the contract returns no balance. `ask`: another upstream must be queried. */
export type BalanceVerdict =
  | { readonly kind: 'right'; readonly value: bigint; readonly transfers: 'agree' | 'differ' | null }
  | { readonly kind: 'none' | 'ask' | 'unknown' };

/** Trusts one upstream with the expected value, or two that agree. */
export function judgeReading({ first, second, expected }: Reading): BalanceVerdict {
  if (second === undefined)
    return first !== null && isExpected(first, expected) ? right(first, expected) : { kind: 'ask' };
  if (first !== null && second === first)
    return isExpected(first, expected)
      ? right(first, expected)
      : { kind: 'right', value: first, transfers: 'differ' };
  if (first === null && second === null) return { kind: 'none' };
  if (typeof second === 'bigint' && isExpected(second, expected) && (first === null || expected !== null))
    return right(second, expected);
  // Invariant: BALANCE-RIGHT-OR-ABSENT
  return { kind: 'unknown' };
}

function right(value: bigint, expected: Reading['expected']): BalanceVerdict {
  return { kind: 'right', value, transfers: expected?.hasMoved === true ? 'agree' : null };
}

function isExpected(value: bigint, expected: Reading['expected']): boolean {
  return expected === null || value === expected.value;
}
