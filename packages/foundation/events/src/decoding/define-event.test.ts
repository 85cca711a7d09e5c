import { parseHash } from '@chainstead/core';
import fc from 'fast-check';
import {
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  parseAbiItem,
  parseAbiParameters,
  toEventSelector,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { defineEvent } from './define-event.ts';

const LINE = 'event Moved(address indexed owner, uint256 amount, int24 tick, bool forced)';
const OWNER = '0x00000000000000000000000000000000000000a1';
const moved = defineEvent(LINE);

function logOf(amount: bigint) {
  const topics = encodeEventTopics({ abi: [parseAbiItem(LINE)], args: { owner: OWNER } });
  const types = [{ type: 'uint256' }, { type: 'int24' }, { type: 'bool' }] as const;
  return {
    topics: topics.map((topic) => parseHash(String(topic))),
    data: encodeAbiParameters(types, [amount, -7, true]),
  };
}

test('an event is read as viem encodes it, and stored with decimal digits', () => {
  expect(moved.topic).toBe(toEventSelector(LINE));
  for (const amount of [0n, 12n, 2n ** 256n - 1n]) {
    expect(moved.read(logOf(amount))).toEqual({ owner: OWNER, amount, tick: -7, forced: true });
    expect(moved.readStored(logOf(amount))).toEqual({
      owner: OWNER,
      amount: String(amount),
      tick: -7,
      forced: true,
    });
  }
});

test('logs of another shape, and words that are no values of their type, are not read', () => {
  const log = logOf(1n);
  const [topic0 = moved.topic] = log.topics;
  expect(moved.read({ ...log, data: `${log.data}00` })).toBeNull();
  expect(moved.read({ ...log, data: '0x' })).toBeNull();
  expect(moved.read({ ...log, topics: [topic0] })).toBeNull();
  expect(moved.read({ ...log, topics: [topic0, topic0] })).toBeNull();
  expect(moved.read({ ...log, data: `0x${log.data.slice(2, -1)}2` })).toBeNull();
});

test('a parameter without a name is not checked', () => {
  const { topics, data } = logOf(5n);
  const [topic0 = moved.topic] = topics;
  const partly = defineEvent('event Moved(address indexed, uint256 amount, int24, bool)');
  expect(partly.read({ topics: [topic0, topic0], data })).toEqual({ amount: 5n });
});

test('arrays and tuples are read with the names of members', () => {
  const event = defineEvent('event Sold((uint256 id, address owner)[] items, string note)');
  const types = parseAbiItem('event Sold((uint256 id, address owner)[] items, string note)').inputs;
  const data = encodeAbiParameters(types, [[{ id: 4n, owner: OWNER }], 'hi']);
  expect(event.read({ topics: [event.topic], data })).toEqual({ items: [{ id: 4n, owner: OWNER }], note: 'hi' });
  expect(event.read({ topics: [event.topic], data: '0x' })).toBeNull();
});

test('a line that declares no event is refused', () => {
  expect(() => defineEvent('Moved(address)')).toThrow('No event is declared by Moved(address)');
});

test('beside arrays, integers are stored as digits, and data of another length is not read', () => {
  const line = 'event Filled(uint256 amount, uint256[2] parts)';
  const filled = defineEvent(line);
  const data = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256[2]' }], [7n, [1n, 2n]]);
  expect(filled.readStored({ topics: [filled.topic], data })).toMatchObject({ amount: '7' });
  expect(filled.read({ topics: [filled.topic], data: `${data}00` })).toBeNull();
});

test('values of two events are told apart by their names', () => {
  const [bought, offered] = [
    defineEvent('event Bought(uint256 id)'),
    defineEvent('event Offered(uint256 id, bool held)'),
  ];
  const data = encodeAbiParameters([{ type: 'uint256' }, { type: 'bool' }], [1n, true]);
  const log = { topics: [offered.topic], data };
  const values = bought.read(log) ?? offered.read(log);
  expect(values !== null && 'held' in values ? values.held : null).toBe(true);
});

describe('nested values', () => {
  const PART = '(uint16 rate, address[] recipients)';
  const OFFER = `(address token, uint8 kind, ${PART}[] parts)` as const;
  const DATA = `${OFFER}[2] offers, address[] payees, address buyer, bytes note` as const;
  const SALE = `event Sold(address indexed seller, uint256 indexed id, ${DATA})` as const;
  const IN_DATA = parseAbiParameters<string>(DATA);
  const sold = defineEvent(SALE);
  const abi = [parseAbiItem(SALE)] as const;

  const addresses = fc.nat(1_000).map((number): `0x${string}` => `0x${number.toString(16).padStart(40, '0')}`);
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
    note: fc
      .uint8Array({ maxLength: 40 })
      .map((bytes): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`),
  });
  type Sale = typeof sales extends fc.Arbitrary<infer Value> ? Value : never;

  function logOfSale({ seller, id, offers: both, payees, buyer, note }: Sale) {
    return {
      topics: encodeEventTopics({ abi, args: { seller, id } }).map((topic) => parseHash(String(topic))),
      data: encodeAbiParameters(IN_DATA, [both, payees, buyer, note]),
    };
  }

  const [example] = fc.sample(sales, { seed: 1, numRuns: 1 }).map(logOfSale);
  if (example === undefined) throw new Error('No sale');
  const { topics, data } = example;

  test('are what was encoded, and what viem decodes, addresses in lower case', () => {
    fc.assert(
      fc.property(sales, (sale) => {
        const log = logOfSale(sale);
        const [signature = sold.topic, ...others] = log.topics;
        const { args } = decodeEventLog({ abi, topics: [signature, ...others], data: log.data });
        const lower = JSON.parse(JSON.stringify(args, asText), (_, value) =>
          typeof value === 'string' ? value.toLowerCase() : value,
        );
        expect(sold.read(log)).toEqual(sale);
        expect(JSON.parse(JSON.stringify(sold.read(log), asText))).toEqual(lower);
      }),
    );
  });

  test.each([
    ['another event', { topics: [defineEvent('event Other()').topic, ...topics.slice(1)], data }],
    ['fewer topics', { topics: topics.slice(0, 2), data }],
    ['more topics', { topics: [...topics, ...topics.slice(1, 2)], data }],
    ['no topics', { topics: [], data }],
    ['no data', { topics, data: '0x' as const }],
    ['half of the data', { topics, data: data.slice(0, 66 + 64) as `0x${string}` }],
  ])('are none for %s', (_, log) => {
    expect(sold.read({ topics, data })).not.toBeNull();
    expect(sold.read(log)).toBeNull();
  });
});

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
