import { type AbiType, abiFunction, layoutOf } from '@chainstead/events/decoding';
import { exampleArguments } from '@chainstead/events/decoding/testing';
import fc from 'fast-check';
import { concatHex, decodeAbiParameters, encodeAbiParameters, type Hex, maxUint256, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { ContractCallError } from '../result/contract-call-error.ts';
import { readAnswer } from '../result/read-answer.ts';
import { showOutputs } from '../result/show-outputs.ts';
import { encodeCall } from './encode-call.ts';
import { keyOf } from './find-function.ts';

/** How a client writes a value. */
interface Style {
  readonly numbers: 'decimal' | 'hexadecimal' | 'json';
  readonly lists: 'json' | 'text';
  readonly tuples: 'names' | 'places';
}

const styles: fc.Arbitrary<Style> = fc.record({
  numbers: fc.constantFrom('decimal', 'hexadecimal', 'json'),
  lists: fc.constantFrom('json', 'text'),
  tuples: fc.constantFrom('names', 'places'),
});

function written(type: AbiType, value: unknown, style: Style): unknown {
  const structure = structureOf(type, value, style);
  if (structure === undefined) return writtenLeaf(value, style);
  return style.lists === 'text' ? JSON.stringify(structure) : structure;
}

function structureOf(type: AbiType, value: unknown, style: Style): unknown {
  if (type.type.endsWith(']')) {
    const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
    return (value as readonly unknown[]).map((one) => written(item, one, style));
  }
  if (type.components === undefined) return undefined;
  const members = type.components.map((member, place) => written(member, (value as unknown[])[place], style));
  if (style.tuples === 'places') return members;
  return Object.fromEntries(type.components.map((member, place) => [keyOf(member, place), members[place]]));
}

function writtenLeaf(value: unknown, { numbers }: Style): unknown {
  if (typeof value !== 'bigint' && typeof value !== 'number') return value;
  if (numbers === 'json' && Number.isSafeInteger(Number(value))) return Number(value);
  return numbers === 'hexadecimal' && value >= 0 ? `0x${value.toString(16)}` : String(value);
}

/** Whether members have distinct names. */
function isNameable(types: readonly AbiType[]): boolean {
  const keys = types.map(keyOf);
  return new Set(keys).size === keys.length && types.every(({ components = [] }) => isNameable(components));
}

test('the empty name stands for the only input without one, which has no value of its own', () => {
  const amount: AbiType = { name: '', type: 'uint256' };
  const named: AbiType = { name: 'to', type: 'address' };
  const to = `0x${'11'.repeat(20)}`;
  const one = abiFunction('act', [named, amount]);
  expect(encodeCall(one, { to, '': '7' })).toBe(encodeCall(one, { to, 1: '7' }));
  expect(encodeCall(one, { to, '': '8', 1: '7' })).toBe(encodeCall(one, { to, 1: '7' }));
  const two = abiFunction('act', [amount, amount]);
  expect(() => encodeCall(two, { '': '7' })).toThrow('params.0');
});

test('whatever a client writes for an ABI becomes what viem encodes', () => {
  fc.assert(
    fc.property(exampleArguments, styles, ({ types, values }, style) => {
      fc.pre(isNameable(types));
      const requested = abiFunction('act', types);
      const params = Object.fromEntries(
        types.map((type, place) => [keyOf(type, place), written(type, values[place], style)]),
      );
      const data = encodeCall(requested, JSON.parse(JSON.stringify(params)));
      expect(data).toBe(concatHex([requested.selector, encodeAbiParameters(requested.layout, values)]));
    }),
    { numRuns: 1_000 },
  );
});

test('what a function returned, given back as it was answered, becomes the same data', () => {
  fc.assert(
    fc.property(exampleArguments, ({ types, values }) => {
      fc.pre(isNameable(types) && types.length > 0);
      const data = encodeAbiParameters(layoutOf(types), values);
      const requested = { ...abiFunction('act', []), outputs: types };
      const answer = readAnswer({ kind: 'result', value: data }, { requested, errors: [], chain: 'Ethereum' });
      const [only] = types;
      const params = types.length === 1 && only !== undefined ? { [keyOf(only, 0)]: answer } : answer;
      const again = encodeCall(abiFunction('act', types), JSON.parse(JSON.stringify(params)));
      expect(`0x${again.slice(10)}`).toBe(data);
    }),
    { numRuns: 1_000 },
  );
});

const anyData: fc.Arbitrary<Hex> = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 200 }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })), {
    maxLength: 20,
  })
  .map((words): Hex => `0x${words.map((word) => word.toString(16).padStart(64, '0')).join('')}`);

test('whatever a contract returns is what viem decodes, or refused', () => {
  fc.assert(
    fc.property(exampleArguments, anyData, ({ types }, data) => {
      fc.pre(types.length > 0);
      const requested = { ...abiFunction('act', []), outputs: types };
      // viem can't stand at the end of the data, so it needs a word after a value that ends there. It isn't zero: who reads it as missing data is found.
      const longer = concatHex([data, numberToHex(maxUint256)]);
      try {
        const answer = readAnswer({ kind: 'result', value: data }, { requested, errors: [], chain: 'Ethereum' });
        expect(answer).toEqual(showOutputs(types, decodeAbiParameters(layoutOf(types), longer)));
      } catch (error) {
        expect(error).toBeInstanceOf(ContractCallError);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a name that objects have is a member like any other', () => {
  const types = [
    { name: '__proto__', type: 'uint8' },
    { name: '0', type: 'uint8' },
  ];
  expect(JSON.stringify(showOutputs(types, [1, 2]))).toBe('{"0":"1","1":"2","__proto__":"1"}');
});
