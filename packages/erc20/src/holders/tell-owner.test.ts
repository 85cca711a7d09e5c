import { describe, expect, test } from 'vitest';
import { createOwnerTeller, type KeptOwner, type ToldToken } from './tell-owner.ts';
import { readReadings, UNREAD } from './token-owners-statement.ts';

/** All of it is indexed: blocks 10 to 100, of a token that was made in block 10. */
const TOKEN: ToldToken = {
  class: 'sum',
  isVerified: false,
  contradictions: 0,
  firstBlock: 10,
  indexedFrom: 10,
  indexedTo: 100,
  isChainIndexed: true,
  isBuilt: true,
};
/** Its contract said so in block 50, and nothing has moved since. */
const READ: KeptOwner = { anchorBlock: 50, balance: '7', reading: { said: '7', isFresh: true } };
const MOVED: KeptOwner = { ...READ, balance: '9' };
const ASKED_NEVER: KeptOwner = { anchorBlock: UNREAD, balance: '7', reading: null };

const tell = (token: Partial<ToldToken>, owner: KeptOwner) => createOwnerTeller({ ...TOKEN, ...token })(owner);
const shown = (told: string) => ({ isDue: false, told });
const ASK = { isDue: true, told: null };

describe('a balance that was read', () => {
  test('is told with what has moved since, where transfers tell it', () => {
    expect(tell({}, READ)).toEqual(shown('7'));
    expect(tell({}, MOVED)).toEqual(shown('9'));
    // Nobody asks for readings of a token that is known to add up.
    expect(tell({}, { ...MOVED, reading: null })).toEqual(shown('9'));
    expect(tell({ class: 'new', isVerified: true }, MOVED)).toEqual(shown('9'));
    // Somebody's reading of it differed: those of others still count.
    expect(tell({ contradictions: 1 }, MOVED)).toEqual(shown('9'));
  });

  test('is told where nothing has moved since, whatever transfers tell', () => {
    expect(tell({ class: 'new' }, READ)).toEqual(shown('7'));
    expect(tell({ class: 'new' }, MOVED)).toEqual(ASK);
  });

  test('counts where every block from there on is indexed', () => {
    expect(tell({ indexedFrom: 51 }, READ)).toEqual(shown('7'));
    expect(tell({ indexedFrom: 52 }, READ)).toEqual(ASK);
    expect(tell({ indexedTo: 50 }, READ)).toEqual(shown('7'));
    expect(tell({ indexedTo: 49 }, READ)).toEqual(ASK);
    expect(tell({ indexedFrom: null, indexedTo: null }, READ)).toEqual(ASK);
  });

  test('is not told where transfers make it less than nothing', () => {
    expect(tell({}, { ...MOVED, balance: '-1' })).toEqual(ASK);
  });

  test('of a live token is what the contract said, for as long as that is fresh', () => {
    expect(tell({ class: 'live' }, READ)).toEqual(shown('7'));
    expect(tell({ class: 'live' }, MOVED)).toEqual(shown('7'));
    expect(tell({ class: 'live', indexedFrom: null, indexedTo: null }, MOVED)).toEqual(shown('7'));
    expect(tell({ class: 'live' }, { ...MOVED, reading: { said: '7', isFresh: false } })).toEqual(ASK);
  });

  test('of a token that tells none counts for nothing', () => {
    expect(tell({ class: 'none' }, READ)).toEqual(ASK);
  });
});

describe('what transfers add up to', () => {
  test('is told and asked about, where all of them are known and tell balances', () => {
    const believed = { isDue: true, told: '7' };
    expect(tell({}, ASKED_NEVER)).toEqual(believed);
    expect(tell({ class: 'new', isVerified: true }, ASKED_NEVER)).toEqual(believed);
  });

  test.each<readonly [string, Partial<ToldToken>]>([
    ['nobody knows whether they do', { class: 'new' }],
    ['they do not', { class: 'live' }],
    ['the contract tells none', { class: 'none' }],
    ['a reading differed', { contradictions: 1 }],
    ['blocks are missing at the beginning', { indexedFrom: 11 }],
    ['no block is indexed', { indexedFrom: null, indexedTo: null }],
    ['the chain is not indexed', { isChainIndexed: false }],
  ])('is not told where %s', (_name, token) => {
    expect(tell(token, ASKED_NEVER)).toEqual(ASK);
  });

  test('is not told where it is less than nothing', () => {
    expect(tell({}, { ...ASKED_NEVER, balance: '-7' })).toEqual(ASK);
  });
});

test('while transfers are being counted only contracts of live tokens are believed', () => {
  expect(tell({ isBuilt: false }, READ)).toEqual({ isDue: false, told: null });
  expect(tell({ isBuilt: false }, ASKED_NEVER)).toEqual(ASK);
  expect(tell({ isBuilt: false, class: 'live' }, READ)).toEqual(shown('7'));
});

test('readings of several accounts are told apart', () => {
  const [one, other] = ['ab'.repeat(20), '12'.repeat(20)];
  expect(readReadings(`${one}+340,${other}-0`)).toEqual(
    new Map([
      [`0x${one}`, { said: '340', isFresh: true }],
      [`0x${other}`, { said: '0', isFresh: false }],
    ]),
  );
  expect(readReadings(null).size).toBe(0);
});
