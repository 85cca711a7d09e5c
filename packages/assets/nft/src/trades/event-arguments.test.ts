import type { Hash } from '@chainstead/core';
import fc from 'fast-check';
import { decodeEventLog, parseAbiItem } from 'viem';
import { describe, expect, test } from 'vitest';
import { eventArguments, topicOf } from './event-arguments.ts';
import { exampleAddress, exampleLog, exampleTransaction } from './testing/example-transaction.ts';

const EVENT = parseAbiItem([
  'event Sold(address indexed seller, uint256 indexed id, Offer[2] offers, address[] payees, address buyer, bytes note)',
  'struct Offer { address token; uint8 kind; Part[] parts; }',
  'struct Part { uint16 rate; address[] recipients; }',
]);

const addresses = fc.nat(1_000).map(exampleAddress);
const offers = fc.record({
  token: addresses,
  kind: fc.nat(255),
  parts: fc.array(fc.record({ rate: fc.nat(65_535), recipients: fc.array(addresses, { maxLength: 3 }) }), {
    maxLength: 3,
  }),
});
const sales = fc.record({
  seller: addresses,
  id: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  offers: fc.tuple(offers, offers),
  payees: fc.array(addresses, { maxLength: 3 }),
  buyer: addresses,
  note: fc.uint8Array({ maxLength: 40 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
});

function logOf(sale: object) {
  const [log] = exampleTransaction([exampleLog(exampleAddress(1), EVENT, sale as Readonly<Record<string, unknown>>)]);
  if (log === undefined) throw new Error('No log');
  return log;
}

const example = logOf(fc.sample(sales, { seed: 1, numRuns: 1 })[0] ?? {});

describe('eventArguments', () => {
  test('gives what was encoded, and what viem decodes, addresses in lower case', () => {
    fc.assert(
      fc.property(sales, (sale) => {
        const log = logOf(sale);
        const [signature, ...topics] = log.topics;
        const { args } = decodeEventLog({
          abi: [EVENT],
          topics: [signature as Hash, ...topics] as [Hash, Hash, Hash],
          data: log.data,
        });
        const lower = JSON.parse(JSON.stringify(args, asText), (_, value) =>
          typeof value === 'string' ? value.toLowerCase() : value,
        );
        const read = eventArguments(EVENT, log);
        expect(read).toEqual(sale);
        expect(JSON.parse(JSON.stringify(read, asText))).toEqual(lower);
      }),
    );
  });

  test.each([
    ['another event', { ...example, topics: [topicOf(parseAbiItem('event Other()')), ...example.topics.slice(1)] }],
    ['fewer topics', { ...example, topics: example.topics.slice(0, 2) }],
    ['more topics', { ...example, topics: [...example.topics, ...example.topics.slice(1, 2)] }],
    ['no topics', { ...example, topics: [] }],
    ['no data', { ...example, data: '0x' as const }],
    ['half of the data', { ...example, data: example.data.slice(0, 66 + 64) as `0x${string}` }],
  ])('gives nothing for %s', (_, log) => {
    expect(eventArguments(EVENT, example)).not.toBeNull();
    expect(eventArguments(EVENT, log)).toBeNull();
  });
});

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
