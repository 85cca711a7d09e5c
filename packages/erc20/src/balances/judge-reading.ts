/** What a contract's answers mean for a balance. Pure. */
import type { Said } from '../calls/ask-balances.ts';

interface Reading {
  readonly first: bigint | null;
  /** What another upstream says of the same block; undefined: not asked yet. */
  readonly second: Said | undefined;
  /**
   * What transfers let expect there, and whether some of them changed it since it was known; null where some aren't indexed, or where they
   * don't tell balances.
   */
  readonly expected: { readonly value: bigint; readonly hasMoved: boolean } | null;
}

/**
 * `right`: it is what the contract holds, and `transfers` tell it, or differ, or neither is known. `none`: the contract tells no balance. `ask`:
 * another upstream is to be asked. `unknown`: nobody can be believed.
 */
export type Verdict =
  | { readonly kind: 'right'; readonly value: bigint; readonly transfers: 'tell' | 'differ' | null }
  | { readonly kind: 'none' | 'ask' | 'unknown' };

/**
 * One upstream is believed as long as it says what was to be expected, two where they agree: with all logs known, what differs from them is a
 * property of the token.
 */
export function judgeReading({ first, second, expected }: Reading): Verdict {
  if (second === undefined)
    return first !== null && isExpected(first, expected) ? right(first, expected) : { kind: 'ask' };
  if (first !== null && second === first)
    return isExpected(first, expected) ? right(first, expected) : { kind: 'right', value: first, transfers: 'differ' };
  if (first === null && second === null) return { kind: 'none' };
  if (typeof second === 'bigint' && isExpected(second, expected) && (first === null || expected !== null))
    return right(second, expected);
  return { kind: 'unknown' };
}

function right(value: bigint, expected: Reading['expected']): Verdict {
  return { kind: 'right', value, transfers: expected?.hasMoved === true ? 'tell' : null };
}

function isExpected(value: bigint, expected: Reading['expected']): boolean {
  return expected === null || value === expected.value;
}
