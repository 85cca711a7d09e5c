import { describe, expect, test } from 'vitest';
import type { Said } from '../calls/fetch-balances.ts';
import { judgeReading } from './store-readings.ts';

const still = (value: bigint) => ({ value, hasMoved: false });
const moved = (value: bigint) => ({ value, hasMoved: true });
const right = (value: bigint, transfers: 'agree' | 'differ' | null = null) => ({
  kind: 'right',
  value,
  transfers,
});

describe('one upstream', () => {
  test.each([
    ['says what it said before', 5n, still(5n), right(5n)],
    ['says what was to be expected of what moved', 5n, moved(5n), right(5n, 'agree')],
    ['says something, and nothing was to be expected', 5n, null, right(5n)],
    ['says zero', 0n, null, right(0n)],
    ['differs from what was to be expected', 6n, still(5n), { kind: 'ask' }],
    ['says nothing', null, null, { kind: 'ask' }],
    ['says nothing where something was to be expected', null, moved(5n), { kind: 'ask' }],
  ])('%s', (_what, first, expected, verdict) => {
    expect(judgeReading({ first, second: undefined, expected })).toEqual(verdict);
  });
});

describe('a second upstream', () => {
  const cases: readonly (readonly [string, bigint | null, Said, ReturnType<typeof moved> | null, object])[] = [
    ['agrees: the token moves without transfers', 6n, 6n, still(5n), right(6n, 'differ')],
    ['agrees: what moved did not', 0n, 0n, moved(5n), right(0n, 'differ')],
    ['agrees, and nothing was to be expected', 6n, 6n, null, right(6n)],
    ['agrees with what was to be expected by then', 6n, 6n, moved(6n), right(6n, 'agree')],
    ['agrees with what was to be expected by then, where nothing moved', 6n, 6n, still(6n), right(6n)],
    ['says what was to be expected: the first one lies', 6n, 5n, moved(5n), right(5n, 'agree')],
    ['says what was to be expected where the first one says nothing', null, 5n, still(5n), right(5n)],
    ['says something where the first one says nothing', null, 5n, null, right(5n)],
    ['says nothing either', null, null, null, { kind: 'none' }],
    ['says nothing either, of a token that moved', null, null, moved(5n), { kind: 'none' }],
    ['says a third thing', 6n, 7n, moved(5n), { kind: 'unknown' }],
    ['says nothing where the first one does', 6n, null, still(5n), { kind: 'unknown' }],
    ['says a third thing where the first one says nothing', null, 7n, still(5n), { kind: 'unknown' }],
    ['could not be asked', 6n, 'unheard', still(5n), { kind: 'unknown' }],
    ['could not be asked, and the first one says nothing', null, 'unheard', null, { kind: 'unknown' }],
  ];
  test.each(cases)('%s', (_what, first, second, expected, verdict) => {
    expect(judgeReading({ first, second, expected })).toEqual(verdict);
  });
});
