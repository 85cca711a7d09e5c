import { expect, test } from 'vitest';
import { returnedNumber, returnedWord } from './abi-words.ts';

const WORD = `0x${'ab'.padStart(64, '0')}`;

test.each([
  ['a word', WORD],
  ['padding behind it', `${WORD}${'0'.repeat(128)}`],
  ['another value behind it', `${WORD}${'f'.repeat(64)}`],
  ['bytes that are no whole word behind it', `${WORD}00`],
  ['capital letters', `0x${WORD.slice(2).toUpperCase()}`],
])('the first word is read of %s', (_what, returned) => {
  expect(returnedWord(returned)).toBe(WORD);
  expect(returnedNumber(returned)).toBe(0xabn);
});

test.each([null, undefined, '', '0x', '0x01', WORD.slice(0, -2), `0x${'zz'.padStart(64, '0')}`])(
  '%s has none',
  (returned) => {
    expect([returnedWord(returned), returnedNumber(returned)]).toEqual([null, null]);
  },
);
