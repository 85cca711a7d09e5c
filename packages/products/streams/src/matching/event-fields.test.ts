import type { Log } from '@chainstead/core';
import fc from 'fast-check';
import { keccak256 } from 'viem';
import { describe, expect, test } from 'vitest';
import type { AbiItem } from '../stream.ts';
import { eventAbi, textHash } from './event-fields.ts';
import { exampleBlock, exampleLog } from './testing/example-block.ts';
import { eventItem, exampleAddress } from './testing/example-stream.ts';

const EMITTER = exampleAddress(0xee);
const MIXED = eventItem(
  'event Mixed(int256 indexed a, uint8 b, (uint256 x, bool y)[2] pairs, string c, bytes4 d, bytes e, uint256[] list, address f, bool g, string indexed h)',
);
const PAIRS = [
  { x: 1n, y: true },
  { x: 2n, y: false },
];

function logOf(item: AbiItem, args: Readonly<Record<string, unknown>>): Log {
  const block = exampleBlock([{ from: EMITTER, to: null, logs: [exampleLog(EMITTER, item, args)] }]);
  return block.logs[0] as Log;
}

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => `0x${Buffer.from(array).toString('hex')}`);

describe('parameters of an event', () => {
  test('are read by name as an encoder wrote them, behind tuples and arrays too', () => {
    const parameters = fc.record({
      a: fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }),
      b: fc.integer({ min: 0, max: 255 }),
      c: fc.string({ unit: 'grapheme' }),
      d: hex(4),
      e: fc.uint8Array({ maxLength: 70 }).map((array) => `0x${Buffer.from(array).toString('hex')}`),
      list: fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { maxLength: 3 }),
      f: hex(20),
      g: fc.boolean(),
      h: fc.string(),
    });
    const { fields, topicCount } = eventAbi(MIXED);
    expect(topicCount).toBe(3);
    expect([...fields.keys()]).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    fc.assert(
      fc.property(parameters, (given) => {
        const log = logOf(MIXED, { ...given, pairs: PAIRS });
        const read = (name: string) => fields.get(name)?.read(log);
        expect(read('a')).toBe(given.a);
        expect(read('b')).toBe(BigInt(given.b));
        expect(read('c')).toBe(/^0x[0-9a-f]*$/i.test(given.c) ? given.c.toLowerCase() : given.c);
        expect(read('d')).toBe(given.d);
        expect(read('e')).toBe(given.e);
        expect(read('f')).toBe(given.f);
        expect(read('g')).toBe(given.g);
        expect(read('h')).toBe(textHash(given.h));
      }),
    );
  });

  test('of data that is cut short or points anywhere are not there; nothing throws', () => {
    const { fields } = eventAbi(MIXED);
    const words = fc.array(
      fc.oneof(
        hex(32),
        fc.nat(400).map((n) => `0x${n.toString(16).padStart(64, '0')}`),
      ),
      {
        maxLength: 14,
      },
    );
    fc.assert(
      fc.property(words, fc.nat(200), (list, cut) => {
        const data = `0x${list.map((word) => word.slice(2)).join('')}`;
        const log = {
          ...logOf(eventItem('event None()'), {}),
          data: data.slice(0, Math.max(2, data.length - cut)),
        };
        for (const field of fields.values()) field.read(log as Log);
        expect(fields.get('a')?.read(log as Log)).toBeUndefined();
      }),
    );
    const empty = logOf(eventItem('event None()'), {});
    expect([...fields.values()].map((field) => field.read(empty))).toEqual(Array(8).fill(undefined));
  });

  test('an indexed string is known by its hash only', () => {
    expect(textHash('hello')).toBe(keccak256('0x68656c6c6f'));
    expect(eventAbi(MIXED).fields.get('h')?.kind).toEqual({ type: 'hash', of: 'text' });
  });

  test('without a name, or of a name that comes twice, leave the first', () => {
    const item = eventItem('event Odd(uint256, uint256 x, address x)');
    expect([...eventAbi(item).fields]).toMatchObject([['x', { kind: { type: 'number' } }]]);
  });
});
