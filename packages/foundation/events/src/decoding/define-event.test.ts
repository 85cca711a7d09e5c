import { parseHash } from '@chainstead/core';
import { encodeAbiParameters, encodeEventTopics, parseAbiItem, toEventSelector } from 'viem';
import { expect, test } from 'vitest';
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
    expect(moved.readStored(logOf(amount))).toEqual({ owner: OWNER, amount: String(amount), tick: -7, forced: true });
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
