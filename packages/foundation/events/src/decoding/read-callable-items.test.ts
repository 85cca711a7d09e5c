import { describe, expect, test } from 'vitest';
import { readCallableItems } from './read-callable-items.ts';

const balance = {
  type: 'function',
  name: 'balanceOf',
  stateMutability: 'view',
  inputs: [{ name: 'owner', type: 'address', internalType: 'address' }],
  outputs: [{ name: '', type: 'uint256' }],
};
const position = {
  ...balance,
  name: 'position',
  inputs: [{ type: 'tuple[]', name: 'keys', components: [{ name: 'id', type: 'uint' }] }],
  outputs: [
    { type: 'tuple', components: [{ type: 'bool' }] },
    { type: 'string', name: 'note' },
  ],
};
const refused = { type: 'error', name: 'Refused', inputs: [{ name: 'why', type: 'string' }] };
const signatures = (document: unknown) =>
  readCallableItems(document)?.map(({ type, signature }) => [type, signature]);

describe('view functions and errors', () => {
  test('are read with their outputs, whatever the ABI is part of', () => {
    const abi = [
      ...[balance, { ...balance, name: 'transfer', stateMutability: 'nonpayable' }, refused, position],
      { type: 'event', name: 'Paused', inputs: [] },
      { name: 'old', constant: true },
    ];
    for (const document of [abi, { abi }, { output: { abi } }])
      expect(signatures(document)).toEqual([
        ['function', 'balanceOf(address)'],
        ['error', 'Refused(string)'],
        ['function', 'position((uint256)[])'],
        ['function', 'old()'],
      ]);
    expect(readCallableItems([balance])?.[0]).toEqual({
      ...balance,
      inputs: [{ name: 'owner', type: 'address' }],
      signature: 'balanceOf(address)',
    });
  });

  test('are the same after they were stored', () => {
    const items = readCallableItems([balance, position, refused]);
    expect(readCallableItems(JSON.parse(JSON.stringify(items)))).toEqual(items);
  });

  test('are left out if they are no valid items, and counted to a limit', () => {
    const rubbish = [null, 5, { ...balance, name: '<b>' }, { ...balance, outputs: [{ type: 'x' }] }];
    expect(signatures([balance, balance, ...rubbish])).toEqual([['function', 'balanceOf(address)']]);
    const many = Array.from({ length: 600 }, (_, n) => ({ ...balance, name: `f${n}` }));
    expect(signatures(many)).toHaveLength(500);
    expect(signatures({ no: 'abi' })).toBeUndefined();
  });
});
