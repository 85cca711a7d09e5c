import type { Address, Hash, Hex, Receipt } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { InvalidHexBytesError } from '../rlp/rlp-text.ts';
import { encodeReceipt } from './receipt-encoding.ts';

const HASH = `0x${'11'.repeat(32)}` as Hash;
const ROOT = `0x${'22'.repeat(32)}`;
const EMPTY_BLOOM = `b90100${'00'.repeat(256)}`;

function receipt(change: Partial<Receipt>): Receipt {
  return {
    transactionHash: HASH,
    transactionIndex: 0,
    type: 0,
    cumulativeGasUsed: 21_000n,
    logs: [],
    raw: { status: '0x1' },
    ...change,
  };
}

function log(data: Hex, topics: readonly Hash[] = []): Receipt['logs'][number] {
  return {
    address: `0x${'33'.repeat(20)}` as Address,
    topics,
    data,
    blockNumber: 1,
    blockHash: HASH,
    transactionHash: HASH,
    transactionIndex: 0,
    logIndex: 0,
    blockTimestamp: null,
  };
}

const encoded = (change: Partial<Receipt>): string => encodeReceipt(receipt(change)).toString('hex');

describe('encodeReceipt', () => {
  it('begins with the status: 1 for success, nothing for a failure', () => {
    expect(encoded({})).toBe(`f90108${'01'}${'825208'}${EMPTY_BLOOM}c0`);
    expect(encoded({ raw: { status: '0x0' } })).toBe(`f90108${'80'}${'825208'}${EMPTY_BLOOM}c0`);
  });

  it('begins with the state root before Byzantium, also where a node shows a status beside it', () => {
    const expected = `f90128a0${'22'.repeat(32)}825208${EMPTY_BLOOM}c0`;
    expect(encoded({ raw: { root: ROOT } })).toBe(expected);
    expect(encoded({ raw: { root: ROOT, status: '0x1' } })).toBe(expected);
    expect(encoded({ raw: { root: ROOT, status: '0x0' } })).toBe(expected);
    expect(encoded({ raw: { root: '0x', status: '0x1' } })).toBe(encoded({}));
  });

  it('does not let a state root vouch for a failure that has logs', () => {
    const logs = [log('0x')];
    expect(encoded({ logs, raw: { root: ROOT, status: '0x0' } })).toBe(encoded({ logs, raw: { status: '0x0' } }));
    expect(encoded({ logs, raw: { root: ROOT, status: '0x1' } })).toBe(encoded({ logs, raw: { root: ROOT } }));
  });

  it('puts the type before the list, for types of other chains too', () => {
    for (const type of [1, 2, 3, 4, 0x64, 0x6a, 0x76, 0x7e, 0x7f])
      expect(encoded({ type })).toBe(type.toString(16).padStart(2, '0') + encoded({}));
  });

  it('hashes nonce and version of a deposit from Canyon on only', () => {
    const regolith = encoded({ type: 0x7e, raw: { status: '0x1', depositNonce: '0x205402' } });
    expect(regolith).toBe(encoded({ type: 0x7e }));
    const canyon = { status: '0x1', depositNonce: '0x205402', depositReceiptVersion: '0x1' };
    expect(encoded({ type: 0x7e, raw: canyon })).toBe(`7ef9010d01825208${EMPTY_BLOOM}c0${'83205402'}${'01'}`);
    expect(encoded({ type: 2, raw: canyon })).toBe(encoded({ type: 2 }));
  });

  it('encodes data of no, one small, one large and many bytes as RLP strings', () => {
    const tail = (data: Hex): string =>
      encoded({ logs: [log(data)] })
        .split('c0')
        .at(-1) ?? '';
    expect(tail('0x')).toBe('80');
    expect(tail('0x7f')).toBe('7f');
    expect(tail('0x80')).toBe('8180');
    expect(tail(`0x${'ab'.repeat(56)}`)).toBe(`b838${'ab'.repeat(56)}`);
  });

  it('refuses fields of another size than theirs', () => {
    const short = log('0x', [`0x${'11'.repeat(31)}` as Hash]);
    expect(() => encodeReceipt(receipt({ logs: [short] }))).toThrow(InvalidHexBytesError);
    expect(() => encodeReceipt(receipt({ logs: [{ ...log('0x'), address: '0x33' as Address }] }))).toThrow(
      InvalidHexBytesError,
    );
    expect(() => encodeReceipt(receipt({ logs: [log('0x123')] }))).toThrow(InvalidHexBytesError);
    expect(() => encodeReceipt(receipt({ raw: { root: `1x${'22'.repeat(32)}` } }))).toThrow(InvalidHexBytesError);
  });

  it('refuses what is no digit, wherever it stands, and says which field it is', () => {
    const wrong = `0x${'0'.repeat(509)}x12`;
    expect(() => encodeReceipt(receipt({ raw: { logsBloom: wrong } }), 'given')).toThrow(wrong.slice(0, 90));
    expect(encodeReceipt(receipt({ raw: { logsBloom: wrong, status: '0x1' } }))).toEqual(
      encodeReceipt(receipt({})),
    );
    for (const data of ['0xzz', '0x0x', `0x${'12'.repeat(80)}g0`] as const)
      expect(() => encodeReceipt(receipt({ logs: [log(data)] })), data).toThrow(data.slice(0, 90));
    const topic = `0x${'1'.repeat(63)}/` as Hash;
    expect(() => encodeReceipt(receipt({ logs: [log('0x', [topic])] }))).toThrow(topic);
  });
});
