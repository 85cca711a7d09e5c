import { describe, expect, test } from 'vitest';
import { keccak256Hex } from './keccak.ts';
import { readRecordedBlocks } from './testing/recorded-blocks.ts';
import { SIGNED_TRANSACTIONS } from './testing/signed-transactions.ts';
import { encodeTransaction, type TransactionJson } from './transaction-encoding.ts';

const recorded = readRecordedBlocks().filter(({ faithful }) => faithful);

describe('the bytes of a transaction', () => {
  test.each(SIGNED_TRANSACTIONS)('$name are those that were signed', ({ json, raw }) => {
    expect(`0x${encodeTransaction(json)?.toString('hex')}`).toBe(raw);
  });

  test.runIf(recorded.length > 0).each([
    ['an OP Stack deposit', '0x7e'],
    ['Arbitrum’s internal transaction', '0x6a'],
  ])('of %s hash to its hash', (_what, type) => {
    const found = recorded.flatMap(({ block }) => block.transactions.filter((one) => one.type === type));
    expect(found.length).toBeGreaterThan(0);
    for (const one of found) expect(keccak256Hex(encodeTransaction(one) ?? Buffer.alloc(0))).toBe(one.hash);
  });

  const TO = `0x${'35'.repeat(20)}`;
  test.each<[string, TransactionJson]>([
    ['an unknown type', { type: '0x69', nonce: '0x0' }],
    [
      'a missing signature',
      { type: '0x0', nonce: '0x0', gasPrice: '0x1', gas: '0x1', to: TO, value: '0x0', input: '0x' },
    ],
    ['no quantity', { type: '0x0', nonce: 'x' }],
    ['something that is not a type', { type: {} }],
    ['a deposit of Mantle', { type: '0x7e', ethValue: '0x0' }],
  ])('of %s cannot be told', (_what, json) => {
    expect(encodeTransaction(json)).toBeNull();
  });
});
