/** Filters read single parameters of a log, API responses decode all: both must agree with viem, which neither uses. */
import type { Hash, Hex, Log } from '@chainstead/core';
import { bookOf, decodeEvent, readAbi } from '@chainstead/events/decoding';
import fc from 'fast-check';
import {
  BaseError,
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  keccak256,
  numberToHex,
  toHex,
} from 'viem';
import { expect, test } from 'vitest';
import { topicOfEvent } from './compile-stream.ts';
import { eventAbi, type FieldValue } from './event-fields.ts';

const bytes = (minLength: number, maxLength: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength, maxLength }).map((content) => toHex(content));

const [UINT, INT] = [
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
];

/** A type and a value of it. */
const parameter = fc.oneof(
  fc.tuple(fc.constant('uint256'), UINT),
  fc.tuple(fc.constant('int64'), INT),
  fc.tuple(fc.constant('uint8'), fc.integer({ min: 0, max: 255 })),
  fc.tuple(fc.constant('bool'), fc.boolean()),
  fc.tuple(fc.constant('address'), bytes(20, 20)),
  fc.tuple(fc.constant('bytes4'), bytes(4, 4)),
  fc.tuple(fc.constant('bytes'), bytes(0, 70)),
  fc.tuple(fc.constant('string'), fc.string({ unit: 'grapheme', maxLength: 40 })),
  fc.tuple(fc.constant('uint256[]'), fc.array(UINT, { maxLength: 3 })),
  fc.tuple(fc.constant('bool[2]'), fc.tuple(fc.boolean(), fc.boolean())),
) as fc.Arbitrary<readonly [type: string, value: unknown]>;

const seldom = (hostile: fc.Arbitrary<Hex>): fc.Arbitrary<Hex | null> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: hostile });

const logs = fc
  .array(fc.tuple(parameter, fc.boolean()), { maxLength: 6 })
  .chain((parameters) => fc.tuple(fc.constant(parameters), seldom(bytes(0, 300)), seldom(bytes(32, 32))));

test('filters and answers read of a log what viem decodes, whatever a contract wrote', () => {
  const counts = { decoded: 0, refused: 0 };
  fc.assert(
    fc.property(logs, ([parameters, hostileData, hostileTopic]) => {
      let left = 3;
      const inputs = parameters.map(([[type], wanted], index) => {
        const indexed = wanted && left > 0;
        if (indexed) left -= 1;
        return { name: `p${index}`, type, indexed };
      });
      const item = { type: 'event', name: 'Happened', inputs };
      const abi = readAbi([item]);
      const [read] = abi?.entries ?? [];
      if (read?.kind !== 'event') throw new Error('The event was refused');
      expect(topicOfEvent(item)).toBe(read.entry.topic0);
      const valued = inputs.map((input, index) => ({ ...input, value: parameters[index]?.[0][1] }));
      const topics = valued.filter(({ indexed }) => indexed).map(({ type, value }) => topicOf(type, value));
      if (hostileTopic !== null && topics.length > 0) topics[0] = hostileTopic as Hash;
      const rest = valued.filter(({ indexed }) => !indexed);
      const data =
        hostileData ??
        encoded(
          rest,
          rest.map(({ value }) => value),
        );
      const log = { topics: [read.entry.topic0, ...topics], data } as unknown as Log;
      const expected = viemReads(inputs, topics, data);
      const book = bookOf('implementation', { functions: [], events: [read.entry] });
      const decoded = decodeEvent(log, [book]);
      counts[expected === null ? 'refused' : 'decoded'] += 1;
      expect(decoded === null).toBe(expected === null);
      const { topicCount, fields } = eventAbi(item);
      expect(topicCount).toBe(log.topics.length);
      for (const [place, { name, type }] of inputs.entries()) {
        const field = fields.get(name);
        const shown = decoded?.params[place]?.value;
        // Filters don't read arrays.
        expect(field === undefined).toBe(type.endsWith(']'));
        if (expected === null || field === undefined) continue;
        const text = String(expected.get(name));
        expect([name, textOf(field.read(log)), shown]).toEqual([name, comparable(type, text), text]);
      }
    }),
    { numRuns: 1_000 },
  );
  expect(counts.decoded).toBeGreaterThan(300);
  expect(counts.refused).toBeGreaterThan(50);
});

interface Input {
  readonly name: string;
  readonly type: string;
  readonly indexed: boolean;
}

/** By name; null if the log is not the encoding of its values. */
function viemReads(
  inputs: readonly Input[],
  topics: readonly Hash[],
  data: Hex,
): ReadonlyMap<string, unknown> | null {
  const words = topics.values();
  const rest = inputs.filter(({ indexed }) => !indexed);
  const ofData = exactly(rest, data)?.values();
  if (ofData === undefined) return null;
  const values = new Map<string, unknown>();
  for (const input of inputs) {
    if (!input.indexed) {
      values.set(input.name, ofData.next().value);
      continue;
    }
    const word = words.next().value ?? '0x';
    const isHash = isHashed(input.type);
    const value = isHash ? word : exactly([input], word)?.[0];
    if (value === undefined) return null;
    values.set(input.name, value);
  }
  return values;
}

function exactly(types: readonly { readonly type: string }[], data: Hex): readonly unknown[] | null {
  try {
    // viem refuses to decode empty data without types.
    const values = types.length === 0 ? [] : decodeAbiParameters(types, data);
    return encoded(types, values) === data ? values : null;
  } catch (error) {
    if (error instanceof BaseError) return null;
    throw error;
  }
}

function encoded(types: readonly { readonly type: string }[], values: readonly unknown[]): Hex {
  return encodeAbiParameters(
    types.map(({ type }) => ({ type })),
    values,
  );
}

/** For values longer than a word, a topic contains the hash. */
function topicOf(type: string, value: unknown): Hash {
  if (type === 'string') return keccak256(toHex(String(value))) as Hash;
  if (type === 'bytes') return keccak256(value as Hex) as Hash;
  if (type.endsWith(']')) return keccak256(concatHex([numberToHex(1, { size: 32 })])) as Hash;
  return encodeAbiParameters([{ type }], [value]) as Hash;
}

function isHashed(type: string): boolean {
  return type === 'string' || type === 'bytes' || type.endsWith(']');
}

/** Hexadecimal text is compared in lower case. */
function comparable(type: string, value: string): string {
  return type === 'address' || /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : value;
}

function textOf(value: FieldValue | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
