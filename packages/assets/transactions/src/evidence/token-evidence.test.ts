import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { type TokenMove, tokenEvidence } from './token-evidence.ts';

const [ME, BOB, USDC, DAI, VAULT, ROUTER] = [1, 2, 3, 4, 5, 6].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];

const move = (token: Address, from: Address, to: Address, value = 5n): TokenMove => ({ token, from, to, value });
const crowd = (size: number, values: (place: number) => bigint = () => 5n): readonly TokenMove[] =>
  Array.from({ length: size }, (_, place) => move(USDC, BOB, addressOf(1_000 + place), values(place)));

function saidOf(account: Address, moved: readonly TokenMove[]): readonly string[] {
  return [...tokenEvidence(moved)].flatMap(([named, says]) => (named === account ? says : []));
}

describe('a token that goes to many', () => {
  test.each([
    ['the same to ten', [...crowd(9), move(USDC, BOB, ME)], ['handedOut', 'handedOutEqually']],
    ['different amounts', [...crowd(9, (place) => BigInt(place + 1)), move(USDC, BOB, ME)], ['handedOut']],
    ['to nine only', [...crowd(8), move(USDC, BOB, ME)], []],
    ['to ten, from different sources', [...crowd(12), move(USDC, VAULT, ME)], []],
    ['of different tokens', [...crowd(12), move(DAI, BOB, ME)], []],
    ['ten times to one', [...Array.from({ length: 12 }, () => move(USDC, BOB, ME))], []],
  ])('%s', (_what, moved, said) => {
    expect(saidOf(ME, moved)).toEqual(said);
  });
});

describe('new tokens for others', () => {
  const shares = move(VAULT, ZERO_ADDRESS, ME);
  test.each([
    ['that their contract took', [move(DAI, ME, VAULT), shares], ['shareMinted']],
    [
      'that went to it through a router',
      [move(DAI, ME, ROUTER), move(DAI, ROUTER, VAULT), shares],
      ['shareMinted'],
    ],
    ['that somebody else took', [move(DAI, ME, ROUTER), shares], []],
    ['of which the contract took another', [move(DAI, ME, ROUTER), move(USDC, ROUTER, VAULT), shares], []],
    ['that were there before', [move(DAI, ME, VAULT), move(VAULT, VAULT, ME)], []],
    ['that somebody else paid', [move(DAI, BOB, VAULT), shares], []],
  ])('%s', (_what, moved, said) => {
    expect(saidOf(ME, moved)).toEqual(said);
  });
});

test('as many events as a block can hold are read in time that grows as they do', () => {
  const account = (place: number): Address => addressOf(10_000 + place);
  const many = Array.from({ length: 20_000 }, (_, place) => move(VAULT, ZERO_ADDRESS, account(place)));
  const paid = Array.from({ length: 20_000 }, (_, place) => move(DAI, account(place), ROUTER));
  expect([...tokenEvidence([...many, ...paid])].some(([, says]) => says.includes('shareMinted'))).toBe(false);
});
