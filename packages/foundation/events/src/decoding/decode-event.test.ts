import type { Hash, Hex } from '@chainstead/core';
import fc from 'fast-check';
import { concatHex, encodeAbiParameters, keccak256, numberToHex, pad } from 'viem';
import { describe, expect, test } from 'vitest';
import { type AbiBook, bookOf, bookOfSignatures } from './abi-book.ts';
import { type AbiEvent, abiEvent, layoutOf } from './abi-entry.ts';
import { decodeEvent } from './decode-event.ts';
import { parseEventSignature, parseSignature } from './parse-signature.ts';
import { STANDARDS } from './standards/standards.ts';
import { exampleArguments, exampleHex } from './testing/example-types.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' as Hash;
const FROM = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const TO = '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359';
const word = (value: Hex | bigint): Hash =>
  (typeof value === 'bigint' ? numberToHex(value, { size: 32 }) : pad(value)) as Hash;

function event(text: string): AbiEvent {
  const parsed = parseEventSignature(text);
  if (parsed === null) throw new Error(`${text} is no event`);
  return parsed;
}

const contractOf = (...events: readonly AbiEvent[]): AbiBook => bookOf('contract', { functions: [], events });

const listBook = (signatures: readonly string[]): AbiBook =>
  bookOfSignatures(signatures.flatMap((text) => parseSignature(text) ?? []));

test('a transfer of coins and one of a token are told apart by their topics', () => {
  const topics = [TRANSFER, word(FROM), word(TO)];
  expect(decodeEvent({ topics, data: word(5n) }, [STANDARDS])).toEqual({
    signature: 'Transfer(address,address,uint256)',
    label: 'Transfer',
    type: 'event',
    source: 'standard',
    params: [
      { name: 'from', type: 'address', value: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' },
      { name: 'to', type: 'address', value: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' },
      { name: 'value', type: 'uint256', value: '5' },
    ],
  });
  const ofToken = decodeEvent({ topics: [...topics, word(5n)], data: '0x' }, [STANDARDS]);
  expect(ofToken?.params.map(({ name }) => name)).toEqual(['from', 'to', 'tokenId']);
});

test.each<[string, readonly Hash[], Hex]>([
  ['no topics', [], '0x'],
  ['a hash that nobody knows', [word(1n)], '0x'],
  ['another number of topics', [TRANSFER], concatHex([word(FROM), word(TO), word(5n)])],
  ['a topic that is no address', [TRANSFER, word(2n ** 255n), word(TO)], word(5n)],
  ['data that is left over', [TRANSFER, word(FROM), word(TO)], concatHex([word(5n), word(6n)])],
  ['data that is missing', [TRANSFER, word(FROM), word(TO)], '0x'],
])('%s is null', (_name, topics, data) => {
  expect(decodeEvent({ topics, data }, [STANDARDS])).toBeNull();
});

test('an argument that a topic has no room for is told as its hash', () => {
  const changed = event(
    'event TextChanged(bytes32 indexed node, string indexed indexedKey, string key, string value)',
  );
  const topics = [changed.topic0, word(7n), keccak256('0x61') as Hash];
  const data = encodeAbiParameters([{ type: 'string' }, { type: 'string' }], ['a', 'b']);
  expect(decodeEvent({ topics, data }, [STANDARDS])?.params).toEqual([
    { name: 'node', type: 'bytes32', value: word(7n) },
    { name: 'indexedKey', type: 'string', value: topics[2], isHash: true },
    { name: 'key', type: 'string', value: 'a' },
    { name: 'value', type: 'string', value: 'b' },
  ]);
});

test('whatever is emitted is told in the order of its arguments, and hostile data never fails', () => {
  const emitted = fc.tuple(exampleArguments, fc.infiniteStream(fc.boolean()), fc.option(exampleHex(0, 100)));
  fc.assert(
    fc.property(emitted, ([{ types, values }, choices, hostile]) => {
      let left = 3;
      const inputs = types.map((type) => {
        const isWord = !/^(string|bytes|tuple)$|\]$/.test(type.type);
        const isIndexed: boolean = isWord && left > 0 && choices.next().value === true;
        if (isIndexed) left -= 1;
        return { ...type, isIndexed };
      });
      const own = abiEvent('Happened', inputs);
      const topics = [own.topic0];
      for (const [index, input] of inputs.entries())
        if (input.isIndexed) topics.push(encodeAbiParameters(layoutOf([input]), [values[index]]) as Hash);
      const inData = inputs.flatMap((input, index) => (input.isIndexed ? [] : [{ input, value: values[index] }]));
      const data = encodeAbiParameters(
        layoutOf(inData.map(({ input }) => input)),
        inData.map(({ value }) => value),
      );
      expect(
        decodeEvent({ topics, data }, [contractOf(own)])?.params.map(({ name, type }) => [name, type]),
      ).toEqual(types.map(({ name, type }) => [name, type]));
      if (hostile !== null) expect(() => decodeEvent({ topics, data: hostile }, [contractOf(own)])).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

describe('a list that knows no indexed arguments', () => {
  const named = event('event Named(address indexed who, string name)');
  const log = { topics: [named.topic0, word(FROM)], data: encodeAbiParameters([{ type: 'string' }], ['a']) };

  test('tells an event that only one choice fits', () => {
    expect(decodeEvent(log, [listBook(['Named(address,string)'])])).toMatchObject({
      label: 'Named',
      source: 'signatures',
      params: [
        { name: '', type: 'address' },
        { name: '', type: 'string', value: 'a' },
      ],
    });
  });

  test('tells none where another choice would do', () => {
    const data = word(5n);
    const paid = event('event Paid(address indexed who, uint256 amount)');
    expect(
      decodeEvent({ topics: [paid.topic0, word(FROM)], data }, [listBook(['Paid(address,uint256)'])]),
    ).toBeNull();
  });
});
