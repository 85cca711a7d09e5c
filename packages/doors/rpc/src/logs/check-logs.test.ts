import type { Address, Hash, Log } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkLogs, compareLogs, looksTruncated, matchesLog } from './check-logs.ts';

const TOPIC = `0x${'dd'.repeat(32)}` as Hash;
const TOKEN = `0x${'aa'.repeat(20)}` as Address;
const unfiltered = { range: { from: 0, to: 100 }, topics: null, indexed: [], addresses: null };

function log(blockNumber: number, transactionIndex: number, logIndex: number, change: Partial<Log> = {}): Log {
  return {
    address: TOKEN,
    topics: [TOPIC],
    data: '0x',
    blockNumber,
    blockHash: `0x${blockNumber.toString(16).padStart(64, '0')}` as Hash,
    transactionHash: `0x${transactionIndex.toString(16).padStart(64, '0')}` as Hash,
    transactionIndex,
    logIndex,
    blockTimestamp: null,
    ...change,
  };
}

test('logs in any order come out in chain order', () => {
  const place = fc.tuple(fc.nat(100), fc.nat(5), fc.nat(9));
  fc.assert(
    fc.property(fc.uniqueArray(place, { selector: (key) => key.join() }), (places) => {
      const checked = checkLogs(
        places.map(([block, transaction, index]) => log(block, transaction, index)),
        unfiltered,
      );
      expect(checked.length).toBe(places.length);
      for (let index = 1; index < checked.length; index++)
        expect(compareLogs(checked[index - 1] as Log, checked[index] as Log)).toBeLessThan(0);
    }),
  );
});

test('an index that repeats is accepted: which logs have it is looked into later', () => {
  expect(checkLogs([log(1, 0, 0), log(1, 0, 0), log(1, 1, 0)], unfiltered)).toHaveLength(3);
});

describe('refuses', () => {
  test.each([
    ['a log below the range', [log(0, 0, 0)], { ...unfiltered, range: { from: 1, to: 5 } }],
    ['a log above the range', [log(6, 0, 0)], { ...unfiltered, range: { from: 1, to: 5 } }],
    ['a topic not asked for', [log(1, 0, 0)], { ...unfiltered, topics: new Set([`0x${'ee'.repeat(32)}`]) }],
    [
      'no topic where one was asked for',
      [log(1, 0, 0, { topics: [] })],
      { ...unfiltered, topics: new Set([TOPIC]) },
    ],
    [
      'an argument not asked for',
      [log(1, 0, 0, { topics: [TOPIC, TOPIC] })],
      { ...unfiltered, indexed: [new Set(['0x01'])] },
    ],
    ['a contract not asked for', [log(1, 0, 0)], { ...unfiltered, addresses: new Set(['0x00']) }],
    ['two hashes of one block', [log(1, 0, 0), log(1, 0, 1, { blockHash: TOPIC })], unfiltered],
  ])('%s', (_what, logs, expected) => {
    expect(() => checkLogs(logs, expected)).toThrow(/block \d/);
  });
});

describe('arguments by position', () => {
  const OTHER = `0x${'ee'.repeat(32)}` as Hash;
  const logs = [
    log(1, 0, 0, { topics: [TOPIC, OTHER, TOPIC, TOPIC] }),
    log(2, 0, 0, { topics: [TOPIC, TOPIC, TOPIC, TOPIC] }),
    log(3, 0, 0, { topics: [TOPIC, OTHER, TOPIC] }),
  ];
  const expected = { ...unfiltered, indexed: [new Set([OTHER]), null, null] };

  test('logs with fewer topics than positions are left out', () => {
    expect(checkLogs([logs[0], logs[2]] as Log[], expected)).toEqual([logs[0]]);
  });

  test('a log matches where every position does', () => {
    expect(logs.map((one) => matchesLog(one, expected))).toEqual([true, false, false]);
    expect(logs.map((one) => matchesLog(one, { ...unfiltered, indexed: [null, null] }))).toEqual([
      true,
      true,
      true,
    ]);
    expect(logs.map((one) => matchesLog(one, { ...unfiltered, topics: new Set([OTHER]) }))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('a log without topics matches where no position is requested', () => {
    const bare = log(4, 0, 0, { topics: [] });
    expect(matchesLog(bare, unfiltered)).toBe(true);
    expect(matchesLog(bare, { ...unfiltered, indexed: [null] })).toBe(false);
  });
});

describe('an answer looks truncated', () => {
  const thousand = Array.from({ length: 1_000 }, (_, index) => log(Math.floor(index / 20), 0, index));

  test('when a usual cap of logs ends well before the range', () => {
    expect(looksTruncated(thousand, { from: 0, to: 99 })).toBe(true);
  });

  test.each([
    ['it reaches the end of the range', thousand, { from: 0, to: 49 }],
    ['its count is no usual cap', thousand.slice(1), { from: 0, to: 99 }],
    ['hardly anything could be missing', thousand, { from: 0, to: 51 }],
    ['it is empty', [], { from: 0, to: 99 }],
  ])('but not when %s', (_what, logs, range) => {
    expect(looksTruncated(logs, range)).toBe(false);
  });
});
