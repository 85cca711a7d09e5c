import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLogs } from './parse-log.ts';

const parseLog = (json: unknown) => parseLogs([json])[0];

const LOG = {
  address: `0x${'AB'.repeat(20)}`,
  topics: [`0x${'dd'.repeat(32)}`, `0x${'EE'.repeat(32)}`],
  data: '0xABcd',
  blockNumber: '0x10',
  blockHash: `0x${'11'.repeat(32)}`,
  transactionHash: `0x${'22'.repeat(32)}`,
  transactionIndex: '0x0',
  logIndex: '0xa',
  blockTimestamp: '0x65521717',
};

test('a log is read with its hexadecimal text in lower case', () => {
  expect(parseLog(LOG)).toEqual({
    address: `0x${'ab'.repeat(20)}`,
    topics: [`0x${'dd'.repeat(32)}`, `0x${'ee'.repeat(32)}`],
    data: '0xabcd',
    blockNumber: 16,
    blockHash: `0x${'11'.repeat(32)}`,
    transactionHash: `0x${'22'.repeat(32)}`,
    transactionIndex: 0,
    logIndex: 10,
    blockTimestamp: 0x65521717,
  });
});

test.each([
  ['absent', undefined],
  ['null', null],
  ['zero', '0x0'],
  ['not a quantity', 'yesterday'],
  ['a number too large for seconds', `0x${'f'.repeat(16)}`],
])('a block timestamp that is %s counts as absent', (_what, blockTimestamp) => {
  expect(parseLog({ ...LOG, blockTimestamp })?.blockTimestamp).toBeNull();
});

describe('refuses', () => {
  test.each([
    ['a short address', { address: '0x12' }],
    ['no address', { address: null }],
    ['a topic of 31 bytes', { topics: [`0x${'dd'.repeat(31)}`] }],
    ['five topics', { topics: Array.from({ length: 5 }, () => `0x${'dd'.repeat(32)}`) }],
    ['topics that are no list', { topics: '0x' }],
    ['half a byte of data', { data: '0xabc' }],
    ['data that is no text', { data: 5 }],
    ['a missing block number', { blockNumber: null }],
    ['a decimal block number', { blockNumber: '16' }],
    ['a missing block hash', { blockHash: null }],
    ['a missing transaction hash', { transactionHash: undefined }],
    ['a missing log index', { logIndex: undefined }],
    ['a log index of 32 bits', { logIndex: '0xffffffff' }],
    ['a log index of 31 bits and one', { logIndex: '0x80000000' }],
    ['a transaction index of 64 bits', { transactionIndex: `0x${'f'.repeat(16)}` }],
    ['a block number beyond its column', { blockNumber: '0x80000000' }],
    ['a removed log', { removed: true }],
  ])('%s', (_what, change) => {
    expect(() => parseLog({ ...LOG, ...change })).toThrow(/not|no |removed/);
  });

  test('an answer that is no list, and a list with something else in it', () => {
    expect(() => parseLogs(null)).toThrow('not a list');
    expect(() => parseLogs([LOG, null])).toThrow('not an object');
  });
});

test('reading many at once gives what reading each alone gives', () => {
  const hash = fc.constantFrom('11', '22', '33').map((byte) => `0x${byte.repeat(32)}`);
  const log = fc.record({
    address: fc.constantFrom('aa', 'BB').map((byte) => `0x${byte.repeat(20)}`),
    topics: fc.array(hash, { maxLength: 4 }),
    data: fc.constantFrom('0x', '0x00', `0x${'12'.repeat(64)}`),
    blockNumber: fc.constantFrom('0x1', '0x2'),
    blockHash: hash,
    transactionHash: hash,
    transactionIndex: fc.constantFrom('0x0', '0x1'),
    logIndex: fc.nat(500).map((index) => `0x${index.toString(16)}`),
    blockTimestamp: fc.constantFrom(undefined, null, '0x0', '0x1', '0x2'),
  });
  fc.assert(
    fc.property(fc.array(log), (logs) => {
      expect(parseLogs(logs)).toEqual(logs.map((one) => parseLog(one)));
    }),
  );
});
