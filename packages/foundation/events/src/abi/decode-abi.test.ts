import type { Hex } from '@chainstead/core';
import fc from 'fast-check';
import {
  type AbiParameter,
  BaseError,
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  isAddress,
  numberToHex,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeAbi, decodeMeasured } from './decode-abi.ts';
import { EncodingRefusedError } from './encoding-refused.ts';

/** A type with values of it. */
interface Example {
  readonly parameter: AbiParameter;
  readonly values: fc.Arbitrary<unknown>;
}

const hex = (bytes: { minLength: number; maxLength: number }): fc.Arbitrary<Hex> =>
  fc.uint8Array(bytes).map((content) => `0x${Buffer.from(content).toString('hex')}` as const);

const leaf: fc.Arbitrary<Example> = fc.constantFrom<Example>(
  { parameter: { type: 'uint256' }, values: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
  { parameter: { type: 'int64' }, values: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
  { parameter: { type: 'uint8' }, values: fc.integer({ min: 0, max: 255 }) },
  { parameter: { type: 'int48' }, values: fc.integer({ min: -(2 ** 47), max: 2 ** 47 - 1 }) },
  { parameter: { type: 'uint56' }, values: fc.bigInt({ min: 0n, max: 2n ** 56n - 1n }) },
  { parameter: { type: 'bool' }, values: fc.boolean() },
  { parameter: { type: 'address' }, values: hex({ minLength: 20, maxLength: 20 }) },
  { parameter: { type: 'bytes4' }, values: hex({ minLength: 4, maxLength: 4 }) },
  { parameter: { type: 'bytes' }, values: hex({ minLength: 0, maxLength: 70 }) },
  { parameter: { type: 'string' }, values: fc.string({ maxLength: 40 }) },
);

function listOf({ parameter, values }: Example, count: number | null): Example {
  const lengths = count === null ? { maxLength: 4 } : { minLength: count, maxLength: count };
  return {
    parameter: { ...parameter, type: `${parameter.type}[${count ?? ''}]` },
    values: fc.array(values, lengths),
  };
}

function tupleOf(members: readonly Example[]): Example {
  const components = members.map(({ parameter }, index) => ({ ...parameter, name: `member${index}` }));
  const values = fc
    .tuple(...members.map((member) => member.values))
    .map((given) => Object.fromEntries(given.map((value, index) => [`member${index}`, value])));
  return { parameter: { type: 'tuple', components }, values };
}

const { example } = fc.letrec<{ example: Example }>((tie) => ({
  example: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(tie('example'), fc.constantFrom(null, 1, 3)).map(([item, count]) => listOf(item, count)),
    fc.array(tie('example'), { minLength: 1, maxLength: 4 }).map(tupleOf),
  ),
}));
const examples = fc.array(example, { minLength: 1, maxLength: 3 });

/** Values as viem has them, addresses in lower case. */
function viemDecodes(parameters: readonly AbiParameter[], data: Hex): unknown {
  return inLowerCase(decodeAbiParameters(parameters, data));
}

function inLowerCase(value: unknown): unknown {
  if (typeof value === 'string') return isAddress(value) ? value.toLowerCase() : value;
  if (Array.isArray(value)) return value.map(inLowerCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inLowerCase(member)]));
}

test('whatever is encoded decodes to what viem makes of it, and no byte of it is taken for shared', () => {
  const encoded = examples.chain((some) =>
    fc.tuple(fc.constant(some.map(({ parameter }) => parameter)), fc.tuple(...some.map(({ values }) => values))),
  );
  fc.assert(
    fc.property(encoded, ([parameters, values]) => {
      const data = encodeAbiParameters(parameters, values);
      const decoded = decodeMeasured(parameters, data, { overlaps: 'refuse' });
      expect(decoded.values).toEqual(viemDecodes(parameters, data));
      // A word for each value, so at least as much as is not an offset, a length or padding.
      expect(decoded.outputBytes).toBeGreaterThanOrEqual(32 * parameters.length);
    }),
    { numRuns: 500 },
  );
});

/** Words that point about in their own data, as an attacker's would, between words that hold anything. */
const crafted = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 40 }).map((place) => numberToHex(32 * place, { size: 32 })),
      fc.integer({ min: 0, max: 20 }).map((count) => numberToHex(count, { size: 32 })),
      hex({ minLength: 32, maxLength: 32 }),
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((words) => concatHex(words));

// Invariant: HTTP-ABI-MEASURED
test('what an attacker writes decodes within the bound or is refused; what decodes is what viem makes of it', () => {
  const outputBytesMax = 2_048;
  fc.assert(
    fc.property(examples, crafted, fc.constantFrom('allow', 'refuse'), (some, data, overlaps) => {
      const parameters = some.map(({ parameter }) => parameter);
      let decoded: ReturnType<typeof decodeMeasured>;
      try {
        decoded = decodeMeasured(parameters, data, { outputBytesMax, overlaps });
      } catch (error) {
        expect(error).toBeInstanceOf(EncodingRefusedError);
        return;
      }
      expect(decoded.outputBytes).toBeLessThanOrEqual(outputBytesMax);
      expect(sizeOf(decoded.values)).toBeLessThanOrEqual(outputBytesMax);
      // viem refuses bytes of no length whose offset is the last word: it steps behind it.
      expect(decoded.values).toEqual(viemDecodes(parameters, concatHex([data, word(0)])));
    }),
    { numRuns: 2_000 },
  );
});

/** What decoded values take, counted from the outside. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string')
    return value.startsWith('0x') ? value.length / 2 - 1 : Buffer.byteLength(value) / 3;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item), 0);
  if (typeof value === 'object' && value !== null) return sizeOf(Object.values(value));
  return 1;
}

const WORD_TYPES = [
  ...[8, 16, 48, 56, 64, 128, 248, 256].flatMap((bits) => [`uint${bits}`, `int${bits}`]),
  ...[1, 4, 20, 31, 32].map((length) => `bytes${length}`),
  ...['address', 'bool', 'uint', 'int'],
];

/** Words of random bytes whose beginning, end or both are all zero or all one. */
const words = fc
  .tuple(hex({ minLength: 32, maxLength: 32 }), fc.nat(32), fc.nat(32), fc.constantFrom('00', 'ff'))
  .map(([content, first, last, fill]): Hex => {
    const bytes = content.slice(2).match(/../g) ?? [];
    return `0x${bytes.map((byte, place) => (place < first || place >= 32 - last ? fill : byte)).join('')}`;
  });

test('a word is read where viem encodes what it reads of it to the same word, and refused otherwise', () => {
  const counts = { read: 0, refused: 0 };
  fc.assert(
    fc.property(fc.constantFrom(...WORD_TYPES), words, (type, data) => {
      const parameters: readonly AbiParameter[] = [{ type }];
      const [expected] = readByViem(parameters, data);
      counts[expected === undefined ? 'refused' : 'read'] += 1;
      if (expected === undefined) expect(() => decodeAbi(parameters, data)).toThrow(EncodingRefusedError);
      else expect(decodeAbi(parameters, data)).toEqual([inLowerCase(expected)]);
    }),
    { numRuns: 5_000 },
  );
  expect(counts.read).toBeGreaterThan(500);
  expect(counts.refused).toBeGreaterThan(500);
});

function readByViem(parameters: readonly AbiParameter[], data: Hex): readonly unknown[] {
  try {
    const values = decodeAbiParameters(parameters, data);
    return encodeAbiParameters(parameters, values) === data ? values : [];
  } catch (error) {
    if (error instanceof BaseError) return [];
    throw error;
  }
}

test('text keeps a byte order mark, which is part of it', () => {
  const text = '\ufefftext';
  expect(decodeAbi([{ type: 'string' }], encodeAbiParameters([{ type: 'string' }], [text]))).toEqual([text]);
});

test('upper-case digits are those of lower case', () => {
  const data: Hex = `0x${'0'.repeat(24)}${'AB'.repeat(20)}`;
  expect(decodeAbi([{ type: 'address' }], data)).toEqual([`0x${'ab'.repeat(20)}`]);
});

test.each([{ type: 'fixed128x18' }, { type: 'uint7' }, { type: 'address20' }, { type: 'no type' }])(
  'nothing is read of $type',
  (parameter) => {
    expect(() => decodeAbi([parameter], numberToHex(1, { size: 32 }))).toThrow('The ABI encoding is refused');
  },
);

const word = (value: number): Hex => numberToHex(value, { size: 32 });

/** `bytes[]` of which so many offsets point at one value. */
function pointingAtOne(offsets: number, valueBytes: number): Hex {
  const value = [word(valueBytes), `0x${'ab'.repeat(Math.ceil(valueBytes / 32) * 32)}` as const];
  return concatHex([word(32), word(offsets), ...Array<Hex>(offsets).fill(word(32 * offsets)), ...value]);
}

describe('refused is', () => {
  const bytesList = [{ type: 'bytes[]' }] as const;

  // Invariant: HTTP-ABI-MEASURED
  test('data of 356 kB that would decode to hundreds of megabytes', () => {
    const data = pointingAtOne(8_000, 100_000);
    expect(data.length / 2).toBeLessThan(360_000);
    const reason = 'decodes to more than 1048576 bytes';
    expect(() => decodeAbi(bytesList, data)).toThrow(reason);
    expect(() => decodeAbi(bytesList, data, { overlaps: 'refuse' })).toThrow(reason);
  });

  test('shared bytes, where they are to be refused, however little comes of them', () => {
    const data = pointingAtOne(2, 32);
    expect(decodeAbi(bytesList, data)).toHaveLength(1);
    expect(() => decodeAbi(bytesList, data, { overlaps: 'refuse' })).toThrow('share the bytes from 128 on');
  });

  test.each([
    ['a length that no data has', 'uint256[]', concatHex([word(32), `0x${'ff'.repeat(32)}`])],
    ['an offset behind the end', 'bytes', word(64)],
    ['a list longer than its data', 'uint256[]', concatHex([word(32), word(3), word(1)])],
    ['half a byte', 'uint256', `${word(1)}0` as const],
  ])('%s', (_, type, data) => {
    expect(() => decodeAbi([{ type }], data)).toThrow('The ABI encoding is refused');
  });

  test.each([
    ['lists without bytes', { type: 'tuple[4294967295]', components: [] }],
    ['lists of such lists', { type: 'tuple[4000000][4000000]', components: [] }],
    ['deep types', { type: `uint256${'[1]'.repeat(500)}` }],
    [
      'long names of many members',
      { type: 'tuple[]', components: [{ type: 'uint8', name: 'n'.repeat(100_000) }] },
    ],
  ])('a type made to cost much: %s', (_, parameter) => {
    const data = concatHex([word(32), word(20), ...Array<Hex>(20).fill(word(1))]);
    expect(() => decodeAbi([parameter], data)).toThrow('The ABI encoding is refused');
  });
});
