import fc from 'fast-check';
import { type Abi, toEventSelector, toFunctionSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import type { AbiType } from './abi-entry.ts';
import { readAbi, selectorOf } from './read-abi.ts';
import { abiItemJson, readAbiItem } from './read-abi-item.ts';
import { exampleArguments } from './testing/example-types.ts';

const transfer = {
  type: 'function',
  name: 'transfer',
  stateMutability: 'nonpayable',
  inputs: [
    { name: 'dst', type: 'address', internalType: 'address' },
    { name: 'wad', type: 'uint256', internalType: 'uint256' },
  ],
  outputs: [{ name: '', type: 'bool' }],
};
const logged = {
  type: 'event',
  name: 'Logged',
  inputs: [
    { name: 'who', type: 'address', indexed: true },
    { name: 'order', type: 'tuple[]', components: [{ name: 'id', type: 'uint256' }] },
  ],
};

describe('an ABI', () => {
  test.each([
    ['as it is', [transfer, logged]],
    ['of an artefact', { contractName: 'Token', abi: [transfer, logged], bytecode: { object: '0x' } }],
    ['of a compiler’s metadata', { compiler: {}, output: { abi: [transfer, logged], devdoc: {} } }],
  ])('%s is read with its names', (_how, document) => {
    const abi = readAbi(document);
    expect(abi?.entries.map(({ kind, entry }) => [kind, entry.signature])).toEqual([
      ['function', 'transfer(address,uint256)'],
      ['event', 'Logged(address,(uint256)[])'],
    ]);
    expect(abi?.entries.map(selectorOf)).toEqual([
      toFunctionSelector('transfer(address,uint256)'),
      toEventSelector('Logged(address,(uint256)[])').slice(0, 10),
    ]);
    expect(abi?.entries[0]?.entry.inputs.map(({ name }) => name)).toEqual(['dst', 'wad']);
    expect([...(abi?.skipped ?? [])]).toEqual([]);
  });

  test('has constructors, errors and what receives coins passed over, and functions may leave their type out', () => {
    const abi = readAbi([
      { type: 'constructor', inputs: [] },
      { type: 'error', name: 'E', inputs: [] },
      { type: 'fallback' },
      { type: 'receive', stateMutability: 'payable' },
      { name: 'old', inputs: [] },
    ]);
    expect(abi?.entries.map(({ entry }) => entry.signature)).toEqual(['old()']);
    expect(abi?.skipped.size).toBe(0);
  });

  test('has anonymous events where they are wanted, next to events of the same signature', () => {
    const anonymous = { ...logged, anonymous: true };
    const abi = readAbi([logged, anonymous, anonymous], { anonymousEvents: true });
    expect(abi?.entries.map(({ entry }) => 'isAnonymous' in entry && entry.isAnonymous)).toEqual([false, true]);
    expect([...(abi?.skipped ?? [])]).toEqual([['repeated', 1]]);
    for (const entry of abi?.entries ?? [])
      expect(readAbiItem(JSON.parse(abiItemJson(entry)), { anonymousEvents: true })).toEqual(entry);
  });

  test('has no functions that change nothing where they are not wanted', () => {
    const view = { ...transfer, name: 'view', stateMutability: 'view' };
    const pure = { ...transfer, name: 'pure', stateMutability: 'pure' };
    const { stateMutability: _, ...old } = { ...transfer, name: 'old' };
    const all = [view, transfer, pure, { ...old, constant: true }, { ...old, name: 'older', constant: false }];
    const namesOf = (reading?: { readonly viewFunctions: boolean }) =>
      readAbi(all, reading)?.entries.map(({ entry }) => entry.name);
    expect(namesOf({ viewFunctions: false })).toEqual(['transfer', 'older']);
    expect(namesOf()).toEqual(['view', 'transfer', 'pure', 'old', 'older']);
  });

  test('gives what is written down of it to the same entry again', () => {
    fc.assert(
      fc.property(exampleArguments, fc.constantFrom('function', 'event'), ({ types }, type) => {
        const inputs = types.map((each, index) => ({ ...json(each), indexed: type === 'event' && index === 0 }));
        const read = readAbiItem({ type, name: 'act', inputs });
        if (read === null || typeof read === 'string') throw new Error(`it was refused: ${read}`);
        expect(readAbiItem(JSON.parse(abiItemJson(read)))).toEqual(read);
        const abi = [{ type, name: 'act', inputs, outputs: [], stateMutability: 'view' }] as unknown as Abi;
        const [item] = abi;
        if (item?.type === 'function') expect(selectorOf(read)).toBe(toFunctionSelector(item));
        if (item?.type === 'event') expect(selectorOf(read)).toBe(toEventSelector(item).slice(0, 10));
      }),
    );
  });

  const json = ({ name, type, components }: AbiType): object => ({
    name,
    type,
    ...(components !== undefined && { components: components.map(json) }),
  });
});

describe('what a stranger wrote', () => {
  const named = (name: unknown, inputs: unknown = []) => ({ type: 'function', name, inputs });

  test.each<[string, unknown, string]>([
    ['a name of markup', named('<script>'), 'a name that is no identifier'],
    ['a name that is none', named(5), 'a name that is no identifier'],
    ['a name of 300 letters', named('a'.repeat(300)), 'a name that is no identifier'],
    ['a name of an argument', named('f', [{ name: 'a b', type: 'bool' }]), 'a name that is no identifier'],
    ['a type', named('f', [{ name: 'a', type: 'uint257' }]), 'a type that no values are decoded of'],
    ['a type that is none', named('f', [{ name: 'a', type: {} }]), 'a type that no values are decoded of'],
    ['a type of Solidity', named('f', [{ name: 'a', type: 'function' }]), 'a type that no values are decoded of'],
    ['an argument', named('f', [null]), 'a type that no values are decoded of'],
    ['arguments', named('f', 'bool'), 'arguments that are no list'],
    ['a tuple', named('f', [{ name: 'a', type: 'tuple' }]), 'arguments that are no list'],
    ['an empty tuple', named('f', [{ name: 'a', type: 'tuple[]', components: [] }]), 'a tuple without members'],
    ['an anonymous event', { ...logged, anonymous: true }, 'an anonymous event'],
    [
      'an event with more topics than a log has',
      { ...logged, inputs: 'abcd'.split('').map((name) => ({ name, type: 'bool', indexed: true })) },
      'more than 3 indexed arguments',
    ],
    ['a kind', { type: 'modifier', name: 'f' }, 'no item of an ABI'],
    ['a number', 7, 'a name that is no identifier'],
    [
      'very many arguments',
      named(
        'f',
        Array.from({ length: 300 }, () => ({ name: '', type: 'bool' })),
      ),
      'more than 256 arguments',
    ],
    ['deep tuples', named('f', [deep(20)]), 'tuples in more than 8 levels'],
  ])('%s is left out, and counted', (_what, item, reason) => {
    const abi = readAbi([transfer, item]);
    expect(abi?.entries.map(({ entry }) => entry.name)).toEqual(['transfer']);
    expect([...(abi?.skipped ?? [])]).toEqual([[reason, 1]]);
  });

  function deep(levels: number): object {
    return levels === 0
      ? { name: '', type: 'bool' }
      : { name: '', type: 'tuple', components: [deep(levels - 1)] };
  }

  test('is kept once', () => {
    const abi = readAbi([transfer, { ...transfer, inputs: transfer.inputs.map(({ type }) => ({ type })) }]);
    expect(abi?.entries).toHaveLength(1);
    expect([...(abi?.skipped ?? [])]).toEqual([['repeated', 1]]);
  });

  test.each([null, 5, 'abi', {}, { abi: 'x' }, { abi: {} }, [1, 2], ['x'], { output: { abi: null } }])(
    '%j is no ABI',
    (document) => {
      expect(readAbi(document)).toBeNull();
    },
  );

  test('never fails, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.jsonValue({ maxDepth: 6 }), (one, other) => {
        readAbi(one);
        readAbi([
          { type: 'function', name: 'f', inputs: one },
          { type: 'event', name: 'e', inputs: [other] },
          one,
        ]);
      }),
    );
  });
});
