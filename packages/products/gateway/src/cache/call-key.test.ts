import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callKey } from './call-key.ts';

const ADDRESS = '0xAbCdef0123456789abcdef0123456789ABCDEF01';
const HASH = `0x${'0A'.repeat(32)}`;

describe('callKey', () => {
  test.each<[string, string, readonly unknown[], readonly unknown[]]>([
    ['case of an address', 'eth_getBalance', [ADDRESS, '0x1'], [ADDRESS.toLowerCase(), '0x1']],
    ['zeros of a block number', 'eth_getBlockByNumber', ['0x001F', false], ['0x1f', false]],
    ['a block as EIP-1898 object', 'eth_getCode', [ADDRESS, { blockNumber: '0x02' }], [ADDRESS, '0x2']],
    [
      'what is so without saying',
      'eth_getCode',
      [ADDRESS, { blockHash: HASH, requireCanonical: false }],
      [ADDRESS, { blockHash: HASH }],
    ],
    [
      'order of members',
      'eth_call',
      [{ to: ADDRESS, data: '0x00' }, '0x1'],
      [{ data: '0x00', to: ADDRESS }, '0x1'],
    ],
    ['zeros of a value', 'eth_call', [{ value: '0x00' }, '0x1'], [{ value: '0x0' }, '0x1']],
    ['count as number', 'eth_feeHistory', [4, '0x10', [25]], ['0x4', '0x10', [25]]],
    ['a padded slot', 'eth_getStorageAt', [ADDRESS, `0x${'0'.repeat(63)}1`, '0x1'], [ADDRESS, '0x1', '0x1']],
    [
      'one address or a list of it',
      'eth_getLogs',
      [{ address: ADDRESS }],
      [{ address: [ADDRESS.toLowerCase()] }],
    ],
    [
      'order of alternatives',
      'eth_getLogs',
      [{ topics: [['0x0b', '0x0a'], null] }],
      [{ topics: [['0x0A', '0x0b'], null] }],
    ],
  ])('is the same whatever the %s', (_, method, one, other) => {
    expect(callKey(method, one)).toBe(callKey(method, other));
  });

  test.each<[string, string, readonly unknown[], readonly unknown[]]>([
    ['zeros of data', 'eth_call', [{ data: '0x00' }, '0x1'], [{ data: '0x0000' }, '0x1']],
    ['a hash for a block number', 'eth_getBlockReceipts', [`0x${'0'.repeat(63)}1`], ['0x1']],
    ['a null at the end of topics', 'eth_getLogs', [{ topics: ['0x0a'] }], [{ topics: ['0x0a', null] }]],
    ['places of topics', 'eth_getLogs', [{ topics: ['0x0a', '0x0b'] }], [{ topics: ['0x0b', '0x0a'] }]],
    ['one member or another', 'eth_call', [{ from: ADDRESS }, '0x1'], [{ to: ADDRESS }, '0x1']],
    ['text and the JSON of it', 'eth_call', ['null'], [null]],
    [
      'canonical or any branch',
      'eth_getCode',
      [ADDRESS, { blockHash: HASH, requireCanonical: true }],
      [ADDRESS, { blockHash: HASH }],
    ],
    [
      'order of an access list',
      'eth_call',
      [{ accessList: ['0x01', '0x02'] }],
      [{ accessList: ['0x02', '0x01'] }],
    ],
    ['a parameter more', 'eth_call', [{}, 'latest'], [{}, 'latest', {}]],
    [
      'much data that ends differently',
      'eth_call',
      [{ data: `0x${'00'.repeat(4_000)}` }],
      [{ data: `0x${'00'.repeat(3_999)}01` }],
    ],
  ])('tells %s apart', (_, method, one, other) => {
    expect(callKey(method, one)).not.toBe(callKey(method, other));
  });

  test('two log filters have the same key if and only if they mean the same', () => {
    const topic = fc.constantFrom('0x0a', '0x0A', '0x0b', '0x00b');
    const address = fc.constantFrom('0xaa', '0xAA', '0xbb');
    const oneOrMany = (item: fc.Arbitrary<string>) =>
      fc.oneof(item, fc.array(item, { minLength: 1, maxLength: 3 }));
    const block = fc.constantFrom('0x1', '0x01', '0x2', 'latest', 'finalized');
    const filter = fc.record(
      {
        fromBlock: block,
        toBlock: block,
        address: oneOrMany(address),
        topics: fc.array(fc.oneof(fc.constant(null), oneOrMany(topic)), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    );
    const alternatives = (value: string | string[] | null | undefined): unknown =>
      value === null || value === undefined
        ? (value ?? 'absent')
        : [...new Set([value].flat().map((text) => text.toLowerCase()))].toSorted();
    const number = (text: string | undefined): unknown =>
      text?.startsWith('0x') ? Number(text) : (text ?? 'absent');
    type Filter = typeof filter extends fc.Arbitrary<infer F> ? F : never;
    const meaning = (given: Filter): unknown => [
      number(given.fromBlock),
      number(given.toBlock),
      alternatives(given.address),
      given.topics?.map(alternatives) ?? 'absent',
    ];
    const filters = fc.tuple(filter, filter);
    fc.assert(
      fc.property(filters, fc.boolean(), ([one, other], isTwin) => {
        const second = isTwin ? Object.fromEntries(Object.entries(one).toReversed()) : other;
        const isSame = JSON.stringify(meaning(one)) === JSON.stringify(meaning(second));
        expect(callKey('eth_getLogs', [one]) === callKey('eth_getLogs', [second])).toBe(isSame);
      }),
      { numRuns: 3_000 },
    );
  });

  test('parameters of any JSON have the same key if and only if they are the same', () => {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (typeof value !== 'object' || value === null) return value;
      const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
      return { members: members.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
    };
    const small = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(fc.array(small, { maxLength: 2 }), fc.array(small, { maxLength: 2 }), (one, other) => {
        expect(callKey('eth_x', one)).toBe(callKey('eth_x', structuredClone(one)));
        const isSame = JSON.stringify(one.map(sorted)) === JSON.stringify(other.map(sorted));
        expect(callKey('eth_x', one) === callKey('eth_x', other)).toBe(isSame);
      }),
      { numRuns: 5_000 },
    );
  });
});
