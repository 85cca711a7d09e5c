import { expect, test } from 'vitest';
import { parseBlock, parseHeader } from './parse-block.ts';
import { parseLogs } from './parse-log.ts';
import { parseReceipt } from './parse-receipt.ts';
import { standardHeader, standardTransaction } from './standard-form.ts';

const HASH = `0x${'11'.repeat(32)}`;
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

test('quantities are put into the form of JSON-RPC where they can be read in one way', () => {
  const raw = standardTransaction({
    hash: HASH,
    type: 2,
    nonce: '0x',
    value: '0x00ff',
    gas: '0X5208',
    gasPrice: '12',
  });
  expect(raw).toEqual({ hash: HASH, type: '0x2', nonce: '0x0', value: '0xff', gas: '0x5208', gasPrice: '12' });
});

test('what is in that form already is the same object', () => {
  const raw = { hash: HASH, type: '0x2', nonce: '0x0', accessList: [], to: null };
  expect(standardTransaction(raw)).toBe(raw);
});

test('null lists of a header are empty where its hashes say so', () => {
  const empty = {
    hash: HASH,
    uncles: null,
    sha3Uncles: NO_UNCLES,
    withdrawals: null,
    withdrawalsRoot: EMPTY_ROOT,
  };
  expect(standardHeader(empty)).toMatchObject({ uncles: [], withdrawals: [] });
  const others = { ...empty, sha3Uncles: HASH, withdrawalsRoot: HASH };
  expect(standardHeader(others)).toMatchObject({ uncles: null, withdrawals: null });
});

test('a header has the eight bytes of its nonce, whichever way they were written', () => {
  expect(['0x0', '0x', 0].map((nonce) => standardHeader({ nonce }).nonce)).toEqual(
    Array(3).fill(`0x${'0'.repeat(16)}`),
  );
  expect(standardHeader({ nonce: '0x00000000000000f0' }).nonce).toBe('0x00000000000000f0');
});

test('null for an access list is an empty one, of types that have one', () => {
  expect(standardTransaction({ type: '0x2', accessList: null }).accessList).toEqual([]);
  expect(standardTransaction({ type: '0x0', accessList: null }).accessList).toBeNull();
});

test('a block, its transactions and a receipt are read alike from each form', () => {
  const block = { number: '0xf', hash: HASH, parentHash: HASH, timestamp: '0x10', gasUsed: '0x0' };
  const transactions = [{ hash: HASH, nonce: '0x0', value: '0x1' }];
  const odd = { ...block, number: 15, timestamp: '0x0010', gasUsed: '0x' };
  const oddOnes = [{ hash: HASH.replace('0x', '0X'), nonce: '0x', value: 1 }];
  expect(parseBlock({ ...odd, transactions: oddOnes })).toEqual(parseBlock({ ...block, transactions }));
  const receipt = {
    transactionHash: HASH,
    transactionIndex: '0x0',
    status: '0x1',
    cumulativeGasUsed: '0x5208',
    logs: [],
  };
  const oddReceipt = { ...receipt, transactionIndex: '0x', status: 1, cumulativeGasUsed: 21_000, logs: null };
  const { raw, ...read } = parseReceipt(oddReceipt);
  expect({ ...read, raw: { ...raw, logs: [] } }).toEqual(parseReceipt(receipt));
});

test('a log without topics is one whose topics are null', () => {
  const log = {
    address: `0x${'aa'.repeat(20)}`,
    data: '0x',
    blockHash: HASH,
    transactionHash: HASH,
    topics: null,
  };
  const places = { blockNumber: '0x1', transactionIndex: '0x', logIndex: 3 };
  expect(parseLogs([{ ...log, ...places }])).toMatchObject([{ topics: [], transactionIndex: 0, logIndex: 3 }]);
});

test.each([
  ['a header', () => parseHeader({ ...HEADER_JSON, gasUsed: `0x1${'0'.repeat(16)}` }), /gasUsed is 0x10+, which/],
  ['a header', () => parseHeader({ ...HEADER_JSON, difficulty: `0x1${'0'.repeat(64)}` }), /difficulty is/],
  ['a time', () => parseHeader({ ...HEADER_JSON, timestamp: '0xffffffffffff' }), /is not a valid timestamp/],
  ['a number', () => parseHeader({ ...HEADER_JSON, number: '0x80000000' }), /is not a valid block number/],
  ['a receipt', () => parseReceipt({ ...RECEIPT_JSON, gasUsed: `0x1${'0'.repeat(16)}` }), /gasUsed is/],
  ['an index', () => parseReceipt({ ...RECEIPT_JSON, transactionIndex: '0x80000000' }), /transaction index/],
])('%s with a value that no column holds is refused, with the field and the value', (_what, parse, message) => {
  expect(parse).toThrow(message);
});

test('the largest values are read', () => {
  const wide = { difficulty: `0x${'f'.repeat(64)}`, gasUsed: `0x${'f'.repeat(16)}`, number: '0x7fffffff' };
  expect(parseHeader({ ...HEADER_JSON, ...wide })).toMatchObject({ number: 2 ** 31 - 1, raw: wide });
});

const HEADER_JSON = {
  ...{ number: '0x1', hash: `0x${'11'.repeat(32)}`, parentHash: `0x${'22'.repeat(32)}`, timestamp: '0x1' },
};
const RECEIPT_JSON = {
  ...{ transactionHash: `0x${'22'.repeat(32)}`, transactionIndex: '0x0', cumulativeGasUsed: '0x1', logs: [] },
};
