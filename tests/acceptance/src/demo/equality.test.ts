import { describe, expect, it } from 'vitest';
import { compareFacts } from './equality.ts';

describe('compareFacts', () => {
  it.each<[string, string[], string[], string | null]>([
    ['equal lists', ['a', 'b'], ['a', 'b'], null],
    ['two empty lists', [], [], null],
    ['a missing transfer', ['a', 'b'], ['a'], 'missing b (1 served, 2 expected)'],
    ['a surplus transfer', ['a'], ['a', 'b'], 'surplus b (2 served, 1 expected)'],
    ['a changed transfer', ['a'], ['c'], 'missing a (1 served, 1 expected)'],
    ['a transfer served twice', ['a'], ['a', 'a'], '2 served, 1 expected'],
  ])('tells of %s', (_what, expected, served, difference) => {
    expect(compareFacts(expected, served)).toBe(difference);
  });
});
