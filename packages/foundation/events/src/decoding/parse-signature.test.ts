import fc from 'fast-check';
import { toFunctionSelector } from 'viem';
import { expect, test } from 'vitest';
import type { AbiType } from './abi-entry.ts';
import { parseEventSignature, parseSignature } from './parse-signature.ts';
import { exampleArguments } from './testing/example-types.ts';

const written = (types: readonly AbiType[]): string =>
  types
    .map(({ name, type, components }) =>
      `${components === undefined ? type : `(${written(components)})${type.slice('tuple'.length)}`} ${name}`.trim(),
    )
    .join(', ');

test('what is written down is read again, with its names', () => {
  fc.assert(
    fc.property(exampleArguments, ({ types }) => {
      const parsed = parseSignature(`function act(${written(types)})`);
      expect(parsed?.inputs).toEqual(types);
      expect(parseSignature(parsed?.signature ?? '')?.selector).toBe(toFunctionSelector(parsed?.signature ?? ''));
    }),
  );
});

test.each([
  '',
  'transfer',
  'transfer(',
  'transfer)',
  'transfer(address,uint256',
  'transfer(address,uint256))',
  'transfer(address,,uint256)',
  'transfer(address,)',
  'transfer(adress)',
  'transfer(uint257)',
  'transfer(bytes33)',
  'transfer(fixed128x18)',
  'transfer(function)',
  'transfer(uint256[0])',
  'transfer(uint256[-1])',
  'transfer(address to too)',
  'transfer(address indexed to)',
  '1transfer()',
  'a b()',
  '<script>()',
  '__proto__',
  `deep(${'('.repeat(200)}${')'.repeat(200)})`,
  `long(${'uint256,'.repeat(1_000)}uint256)`,
  'event Transfer(address)',
])('%j is no signature', (text) => {
  expect(parseSignature(text)).toBeNull();
});

test('short names of types stand for the long ones, and places of data for nothing', () => {
  expect(
    parseSignature('f(uint a, int[2] calldata b, tuple(uint x) memory c, address payable d)')?.signature,
  ).toBe('f(uint256,int256[2],(uint256),address)');
});

test('an event has its indexed arguments', () => {
  expect(parseEventSignature('event E(address indexed, uint indexed id, string)')?.inputs).toEqual([
    { name: '', type: 'address', isIndexed: true },
    { name: 'id', type: 'uint256', isIndexed: true },
    { name: '', type: 'string', isIndexed: false },
  ]);
  expect(parseEventSignature('E(address)')).toBeNull();
});
