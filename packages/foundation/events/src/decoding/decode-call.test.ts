import type { Hex } from '@chainstead/core';
import fc from 'fast-check';
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi as parseViemAbi,
  toFunctionSelector,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { type AbiBook, bookOf, bookOfSignatures } from './abi-book.ts';
import { type AbiFunction, abiFunction, layoutOf } from './abi-entry.ts';
import { decodeCall } from './decode-event.ts';
import type { DecodedArgument } from './decoded.ts';
import { parseSignature } from './parse-signature.ts';
import { STANDARDS } from './standards/standards.ts';
import { exampleArguments, exampleHex } from './testing/example-types.ts';

const HOLDER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const transfer = encodeFunctionData({
  abi: parseViemAbi(['function transfer(address to, uint256 value)']),
  args: [HOLDER, 10n ** 30n],
});

const listBook = (signatures: readonly string[]): AbiBook =>
  bookOfSignatures(signatures.flatMap((text) => parseSignature(text) ?? []));

const bookWith = (source: 'contract' | 'implementation', ...functions: readonly AbiFunction[]): AbiBook =>
  bookOf(source, { functions, events: [] });

function named(text: string): AbiFunction {
  const entry = parseSignature(text);
  if (entry === null) throw new Error(`${text} is no signature`);
  return entry;
}

test('a well-known call is told with names and values as text', () => {
  expect(decodeCall(transfer, [STANDARDS])).toEqual({
    signature: 'transfer(address,uint256)',
    label: 'transfer',
    type: 'function',
    source: 'standard',
    params: [
      { name: 'to', type: 'address', value: HOLDER },
      { name: 'value', type: 'uint256', value: '1000000000000000000000000000000' },
    ],
  });
});

test('whatever is encoded is told as it was encoded, by every source', () => {
  fc.assert(
    fc.property(exampleArguments, fc.constantFrom('contract', 'implementation'), ({ types, values }, source) => {
      const entry = abiFunction('act', types);
      const input = concatHex([entry.selector, encodeAbiParameters(layoutOf(types), values)]);
      const reported = decodeCall(input, [bookWith(source, entry)]);
      expect(reported?.signature).toBe(entry.signature);
      expect(entry.selector).toBe(toFunctionSelector(entry.signature));
      expect(reported?.params.map(({ name, type }) => [name, type])).toEqual(
        types.map(({ name, type }) => [name, type]),
      );
      expect(reported?.params.map(read)).toEqual(values.map(textsOf));
    }),
    { numRuns: 500 },
  );
});

/** Converts an argument's texts back, with tuple members in order. */
function read({ type, value, components }: DecodedArgument): unknown {
  if (components !== undefined) return components.map(read);
  return type.endsWith(']') ? leaves(JSON.parse(value)) : comparable(value);
}

const leaves = (json: unknown): unknown =>
  typeof json === 'string' ? comparable(json) : Object.values(json ?? {}).map(leaves);

/** Texts may look like addresses. */
const comparable = (text: string): string => (text.startsWith('0x') ? text.toLowerCase() : text);

function textsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textsOf);
  return comparable(String(value));
}

test('what a stranger writes behind a known selector is told or not, and never fails', () => {
  const word = fc.oneof(
    fc.integer({ min: 0, max: 20 }).map((place): Hex => `0x${(32 * place).toString(16).padStart(64, '0')}`),
    exampleHex(32, 32),
    exampleHex(0, 31),
  );
  fc.assert(
    fc.property(
      exampleArguments,
      fc.array(word, { maxLength: 20 }).map((words) => concatHex(words)),
      fc.constantFrom('contract', 'implementation'),
      ({ types }, data, source) => {
        const entry = abiFunction('act', types);
        const reported = decodeCall(concatHex([entry.selector, data]), [bookWith(source, entry)]);
        expect(reported === null || reported.params.length === types.length).toBe(true);
      },
    ),
    { numRuns: 1_000 },
  );
});

describe('bytes behind the arguments', () => {
  const longer = concatHex([transfer, '0xdeadbeef']);

  test('are passed over where the ABI is the contract’s own', () => {
    expect(decodeCall(longer, [bookWith('contract', named('transfer(address to, uint256 value)'))])?.label).toBe(
      'transfer',
    );
  });

  test('make anything else a guess, which is none', () => {
    const implementation = bookWith('implementation', named('transfer(address,uint256)'));
    expect(decodeCall(longer, [implementation, STANDARDS, listBook(['transfer(address,uint256)'])])).toBeNull();
  });
});

describe('names that were made to collide', () => {
  // All of them have the selector of transfer(address,uint256).
  const collisions = ['many_msg_babbage(bytes1)', 'workMyDirefulOwner(uint256,uint256)'];

  test('have one selector', () => {
    expect(collisions.map((text) => named(text).selector)).toEqual(['0xa9059cbb', '0xa9059cbb']);
  });

  test('lose to a source that is trusted', () => {
    expect(decodeCall(transfer, [STANDARDS, listBook(collisions)])?.label).toBe('transfer');
  });

  test('give none where several of a list would do, one where the others can’t be', () => {
    expect(decodeCall(transfer, [listBook([...collisions, 'transfer(address,uint256)'])])).toBeNull();
    expect(
      decodeCall(transfer, [listBook(['many_msg_babbage(bytes1)', 'transfer(address,uint256)'])]),
    ).toMatchObject({
      label: 'transfer',
      source: 'signatures',
      params: [{ name: '' }, { name: '' }],
    });
  });
});

test('the first source that decodes wins, not the first that knows the selector', () => {
  const lie = bookWith('implementation', { ...named('transfer(bytes)'), selector: '0xa9059cbb' });
  expect(decodeCall(transfer, [lie, STANDARDS])?.source).toBe('standard');
  const own = bookWith('contract', named('transfer(address dst, uint256 wad)'));
  expect(decodeCall(transfer, [own, STANDARDS])).toMatchObject({
    source: 'contract',
    params: [{ name: 'dst' }, { name: 'wad' }],
  });
});

test.each([
  ['nothing', '0x'],
  ['less than a selector', '0xa9059c'],
  ['a selector that nobody knows', '0x12345678'],
  ['arguments that are cut short', transfer.slice(0, -2) as Hex],
  ['an address with dirty bytes', `0xa9059cbb${'ff'.repeat(64)}` as Hex],
])('%s is null', (_name, input) => {
  expect(decodeCall(input as Hex, [STANDARDS])).toBeNull();
});

test('a call without arguments is told where it carries none', () => {
  expect(decodeCall('0xd0e30db0', [STANDARDS])).toMatchObject({ label: 'deposit', params: [] });
  expect(decodeCall('0xd0e30db0ff', [STANDARDS])).toBeNull();
});

test('tuples and arrays are JSON of texts, with members beside it', () => {
  const entry = named('act((address to, uint256[] ids, bool isLast) order, (uint8, string)[] rest)');
  const input = concatHex([
    entry.selector,
    encodeAbiParameters(entry.layout, [
      [HOLDER, [1n, 2n], true],
      [
        [7, 'a "quoted" name'],
        [8, ''],
      ],
    ]),
  ]);
  expect(decodeCall(input, [bookWith('contract', entry)])?.params).toEqual([
    {
      name: 'order',
      type: 'tuple',
      value: `{"to":"${HOLDER}","ids":["1","2"],"isLast":"true"}`,
      components: [
        { name: 'to', type: 'address', value: HOLDER },
        { name: 'ids', type: 'uint256[]', value: '["1","2"]' },
        { name: 'isLast', type: 'bool', value: 'true' },
      ],
    },
    { name: 'rest', type: 'tuple[]', value: '[["7","a \\"quoted\\" name"],["8",""]]' },
  ]);
});

test('members with names that objects have are kept, and equal names make an array', () => {
  const entry = named('act((uint8 __proto__, uint8 constructor) one, (uint8 same, uint8 same) other)');
  const input = concatHex([
    entry.selector,
    encodeAbiParameters(entry.layout, [
      [1, 2],
      [3, 4],
    ]),
  ]);
  expect(decodeCall(input, [bookWith('contract', entry)])?.params.map(({ value }) => value)).toEqual([
    '{"__proto__":"1","constructor":"2"}',
    '["3","4"]',
  ]);
});
