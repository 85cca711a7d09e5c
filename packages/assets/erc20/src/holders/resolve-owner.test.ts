import { describe, expect, test } from 'vitest';
import {
  createOwnerResolver,
  type OwnerFacts,
  readReadings,
  type TokenStanding,
  UNREAD,
} from './token-owners-statement.ts';

/** Fully indexed: blocks 10 to 100, of a token created in block 10. */
const TOKEN: TokenStanding = {
  class: 'sum',
  isVerified: false,
  contradictions: 0,
  firstBlock: 10,
  indexedFrom: 10,
  indexedTo: 100,
  isChainIndexed: true,
  isBuilt: true,
};
/** Read from its contract in block 50, without later movements. */
const READ: OwnerFacts = { anchorBlock: 50, balance: '7', reading: { said: '7', isFresh: true } };
const MOVED: OwnerFacts = { ...READ, balance: '9' };
const REQUESTED_NEVER: OwnerFacts = { anchorBlock: UNREAD, balance: '7', reading: null };

const report = (token: Partial<TokenStanding>, owner: OwnerFacts) =>
  createOwnerResolver({ ...TOKEN, ...token })(owner);
const shown = (reported: string) => ({ isDue: false, reported });
const ASK = { isDue: true, reported: null };

describe('a balance that was read', () => {
  test('is told with what has moved since, where transfers tell it', () => {
    expect(report({}, READ)).toEqual(shown('7'));
    expect(report({}, MOVED)).toEqual(shown('9'));
    // Contract reads are not needed for a token known to add up.
    expect(report({}, { ...MOVED, reading: null })).toEqual(shown('9'));
    expect(report({ class: 'new', isVerified: true }, MOVED)).toEqual(shown('9'));
    // A read of another account differed: the values of the others still count.
    expect(report({ contradictions: 1 }, MOVED)).toEqual(shown('9'));
  });

  test('is told where nothing has moved since, whatever transfers tell', () => {
    expect(report({ class: 'new' }, READ)).toEqual(shown('7'));
    expect(report({ class: 'new' }, MOVED)).toEqual(ASK);
  });

  test('counts where every block from there on is indexed', () => {
    expect(report({ indexedFrom: 51 }, READ)).toEqual(shown('7'));
    expect(report({ indexedFrom: 52 }, READ)).toEqual(ASK);
    expect(report({ indexedTo: 50 }, READ)).toEqual(shown('7'));
    expect(report({ indexedTo: 49 }, READ)).toEqual(ASK);
    expect(report({ indexedFrom: null, indexedTo: null }, READ)).toEqual(ASK);
  });

  // Invariant: BALANCE-NOT-NEGATIVE
  test('is not told where transfers make it less than nothing', () => {
    expect(report({}, { ...MOVED, balance: '-1' })).toEqual(ASK);
  });

  test('of a live token is what the contract said, for as long as that is fresh', () => {
    expect(report({ class: 'live' }, READ)).toEqual(shown('7'));
    expect(report({ class: 'live' }, MOVED)).toEqual(shown('7'));
    expect(report({ class: 'live', indexedFrom: null, indexedTo: null }, MOVED)).toEqual(shown('7'));
    expect(report({ class: 'live' }, { ...MOVED, reading: { said: '7', isFresh: false } })).toEqual(ASK);
  });

  test('of a token that tells none counts for nothing', () => {
    expect(report({ class: 'none' }, READ)).toEqual(ASK);
  });
});

describe('what transfers add up to', () => {
  test('is told and asked about, where all of them are known and tell balances', () => {
    const believed = { isDue: true, reported: '7' };
    expect(report({}, REQUESTED_NEVER)).toEqual(believed);
    expect(report({ class: 'new', isVerified: true }, REQUESTED_NEVER)).toEqual(believed);
  });

  test.each<readonly [string, Partial<TokenStanding>]>([
    ['nobody knows whether they do', { class: 'new' }],
    ['they do not', { class: 'live' }],
    ['the contract tells none', { class: 'none' }],
    ['a reading differed', { contradictions: 1 }],
    ['blocks are missing at the beginning', { indexedFrom: 11 }],
    ['no block is indexed', { indexedFrom: null, indexedTo: null }],
    ['the chain is not indexed', { isChainIndexed: false }],
  ])('is not told where %s', (_name, token) => {
    expect(report(token, REQUESTED_NEVER)).toEqual(ASK);
  });

  // Invariant: BALANCE-NOT-NEGATIVE
  test('is not told where it is less than nothing', () => {
    expect(report({}, { ...REQUESTED_NEVER, balance: '-7' })).toEqual(ASK);
  });
});

test('while transfers are being counted only contracts of live tokens are believed', () => {
  expect(report({ isBuilt: false }, READ)).toEqual({ isDue: false, reported: null });
  expect(report({ isBuilt: false }, REQUESTED_NEVER)).toEqual(ASK);
  expect(report({ isBuilt: false, class: 'live' }, READ)).toEqual(shown('7'));
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
