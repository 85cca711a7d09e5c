import { type Address, type Hash, type Log, parseHash, ZERO_HASH } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HistoryFilter } from '../dataset/dataset.ts';
import { givesLog, joinFilters } from './read-subject-logs.ts';

const topic = (number: number): Hash => parseHash(`0x${number.toString(16).padStart(64, '0')}`);
const [TRANSFER, SINGLE, BATCH, APPROVAL] = [topic(1), topic(2), topic(3), topic(4)];
const WALLET = topic(0xa11ce);

test('filters of fungible tokens, of approvals and of NFTs of one wallet are three in all', () => {
  const fungible: HistoryFilter[] = [
    { topics: [TRANSFER], indexed: [[WALLET]] },
    { topics: [TRANSFER], indexed: [null, [WALLET]] },
  ];
  const approvals: HistoryFilter[] = [{ topics: [APPROVAL], indexed: [[WALLET]] }];
  const nfts: HistoryFilter[] = [
    { topics: [TRANSFER], indexed: [[WALLET], null, null] },
    { topics: [TRANSFER, SINGLE, BATCH], indexed: [null, [WALLET], null] },
    { topics: [SINGLE, BATCH], indexed: [null, null, [WALLET]] },
  ];
  expect(joinFilters([...fungible, ...approvals, ...nfts])).toEqual([
    { topics: [TRANSFER, APPROVAL], indexed: [[WALLET]] },
    { topics: [TRANSFER, SINGLE, BATCH], indexed: [null, [WALLET]] },
    { topics: [SINGLE, BATCH], indexed: [null, null, [WALLET]] },
  ]);
  expect(joinFilters(nfts)).toEqual(nfts);
});

test('filters of one contract are one', () => {
  const addresses = [addressOf(1)];
  expect(
    joinFilters([
      { topics: [TRANSFER, SINGLE], addresses },
      { topics: [TRANSFER], addresses },
    ]),
  ).toEqual([{ topics: [TRANSFER, SINGLE], addresses }]);
  expect(joinFilters([{ topics: [TRANSFER], addresses }, { topics: [TRANSFER] }])).toHaveLength(2);
  expect(
    joinFilters([
      { topics: [TRANSFER], addresses },
      { topics: [], addresses },
    ]),
  ).toEqual([{ topics: [], addresses }]);
});

test('a filter of one contract is asked with one of all contracts that names the same wallet, whichever comes first', () => {
  const ofAll: HistoryFilter = { topics: [TRANSFER], indexed: [[WALLET]] };
  const ofOne: HistoryFilter = { topics: [APPROVAL], indexed: [[WALLET]], addresses: [addressOf(1)] };
  expect(joinFilters([ofAll, ofOne])).toEqual([{ topics: [TRANSFER, APPROVAL], indexed: [[WALLET]] }]);
  expect(joinFilters([ofOne, ofAll])).toEqual([{ topics: [APPROVAL, TRANSFER], indexed: [[WALLET]] }]);
  expect(joinFilters([ofOne, { ...ofAll, indexed: [null, [WALLET]] }])).toHaveLength(2);
  expect(joinFilters([ofOne, { ...ofOne, addresses: [addressOf(2)] }])).toHaveLength(2);
  // Joined, they would match logs that the wider filter excludes.
  expect(joinFilters([{ ...ofAll, indexed: [[WALLET], null, null] }, ofOne])).toHaveLength(2);
});

const someTopic = fc.constantFrom(TRANSFER, SINGLE, BATCH);
const someValue = fc.constantFrom(topic(10), topic(11));
const someFilter: fc.Arbitrary<HistoryFilter> = fc
  .record({
    // Empty: any.
    topics: fc.uniqueArray(someTopic),
    indexed: fc.option(fc.array(fc.option(fc.uniqueArray(someValue, { minLength: 1 })), { maxLength: 3 }), {
      nil: undefined,
    }),
    addresses: fc.option(fc.uniqueArray(fc.constantFrom(addressOf(1), addressOf(2)), { minLength: 1 }), {
      nil: undefined,
    }),
  })
  .map(({ topics, indexed, addresses }) => ({
    topics,
    ...(indexed === undefined ? {} : { indexed }),
    ...(addresses === undefined ? {} : { addresses }),
  }));
const someLog: fc.Arbitrary<Log> = fc
  .record({
    address: fc.constantFrom<Address>(addressOf(1), addressOf(2), addressOf(3)),
    first: fc.option(someTopic),
    rest: fc.array(someValue, { maxLength: 3 }),
  })
  .map(({ address, first, rest }) => ({
    address,
    topics: first === null ? [] : [first, ...rest],
    data: '0x',
    blockNumber: 1,
    blockHash: ZERO_HASH,
    transactionHash: ZERO_HASH,
    transactionIndex: 0,
    logIndex: 0,
    blockTimestamp: null,
  }));

test('a filter gives logs with the topics that it names', () => {
  const logOf = (...topics: readonly Hash[]): Log => ({
    ...{
      address: addressOf(1),
      topics,
      data: '0x',
      blockNumber: 1,
      blockHash: ZERO_HASH,
      transactionHash: ZERO_HASH,
    },
    ...{ transactionIndex: 0, logIndex: 0, blockTimestamp: null },
  });
  const filter: HistoryFilter = { topics: [TRANSFER], indexed: [null, [WALLET]] };
  expect(givesLog(filter, logOf(TRANSFER, topic(10), WALLET))).toBe(true);
  expect(givesLog(filter, logOf(TRANSFER, WALLET, topic(10)))).toBe(false);
  expect(givesLog(filter, logOf(TRANSFER, WALLET))).toBe(false);
  expect(givesLog(filter, logOf(SINGLE, topic(10), WALLET))).toBe(false);
});

test('joined filters give whatever one of them gave', () => {
  fc.assert(
    fc.property(fc.array(someFilter, { maxLength: 6 }), fc.array(someLog, { maxLength: 20 }), (filters, logs) => {
      const joined = joinFilters(filters);
      expect(joined.length).toBeLessThanOrEqual(filters.length);
      for (const log of logs)
        if (filters.some((filter) => givesLog(filter, log)))
          expect(joined.some((filter) => givesLog(filter, log))).toBe(true);
    }),
  );
});
