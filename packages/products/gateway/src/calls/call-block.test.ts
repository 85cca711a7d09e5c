import { expect, test } from 'vitest';
import { findMethod } from '../methods/method-table.ts';
import { speaksOfHead } from './cached-answer.ts';

const BLOCK_HASH = `0x${'ab'.repeat(32)}`;

test.each([
  [{ fromBlock: '0x10' }, true],
  [{ fromBlock: '0x10', toBlock: 'latest' }, true],
  [{ toBlock: '0x20' }, true],
  [{ fromBlock: 'finalized', toBlock: 'safe' }, true],
  [{ fromBlock: '0x10', toBlock: '0x20' }, false],
  [{ fromBlock: 'earliest', toBlock: '0x20' }, false],
  [{ blockHash: BLOCK_HASH }, false],
])('logs of %j depend on the head: %s', (filter, expected) => {
  const method = findMethod('eth_getLogs');
  if (method === undefined) throw new Error('eth_getLogs is not in the list');
  expect(speaksOfHead(method, [filter])).toBe(expected);
});
