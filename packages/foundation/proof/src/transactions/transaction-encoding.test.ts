import { keccak256Hex } from '@chainstead/core';
import fc from 'fast-check';
import { toRlp } from 'viem';
import { serializeTransaction as serializeCelo } from 'viem/celo';
import { describe, expect, test } from 'vitest';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { SIGNED_TRANSACTIONS } from '../testing/signed-transactions.ts';
import { checkTransactionHash, encodeTransaction } from './transaction-encoding.ts';
import type { TransactionJson } from './transaction-fields.ts';

const recorded = readRecordedBlocks().filter(({ faithful }) => faithful);

describe('the bytes of a transaction', () => {
  test.each(SIGNED_TRANSACTIONS)('$name are those that were signed', ({ json, raw }) => {
    expect(`0x${encodeTransaction(json)?.toString('hex')}`).toBe(raw);
  });

  test.skipIf(RECORDINGS.isMissing).each([
    ['an OP Stack deposit', '0x7e'],
    ['Arbitrum’s internal transaction', '0x6a'],
  ])(RECORDINGS.title('of %s hash to its hash'), (_what, type) => {
    const found = recorded.flatMap(({ block }) => block.transactions.filter((one) => one.type === type));
    expect(found.length).toBeGreaterThan(0);
    for (const one of found) expect(keccak256Hex(encodeTransaction(one) ?? Buffer.alloc(0))).toBe(one.hash);
  });

  const DEPOSIT = {
    type: '0x7e',
    sourceHash: '0xf1ef1191cf95e45f4adac2dbc13f04e00f87ade0d94bbaad6c9c70367dc956ba',
    from: '0x2a99f24ee7970b7fe3fd0d093532d089c8a03bc3',
    to: '0x2a99f24ee7970b7fe3fd0d093532d089c8a03bc3',
    mint: '0x2a303fe4b530000',
    value: '0x2a303fe4b530000',
    gas: '0x186a0',
    input: '0x',
  };
  test('of a deposit that mints hash to its hash (Base Goerli, block 10,000,000)', () => {
    const hash = '0x8759bb65aaec409b52fd92ef25c3ab51a36ad045b2f512e6495f0afe66635bbd';
    expect(keccak256Hex(encodeTransaction(DEPOSIT) ?? Buffer.alloc(0))).toBe(hash);
  });

  const TO = `0x${'35'.repeat(20)}`;
  test.each<[string, TransactionJson]>([
    ['an unknown type', { type: '0x69', nonce: '0x0' }],
    [
      'a missing signature',
      { type: '0x0', nonce: '0x0', gasPrice: '0x1', gas: '0x1', to: TO, value: '0x0', input: '0x' },
    ],
    [
      'an access list with an entry that is none',
      {
        ...{
          type: '0x1',
          chainId: '0x1',
          nonce: '0x0',
          gasPrice: '0x1',
          gas: '0x1',
          to: TO,
          value: '0x0',
          input: '0x',
        },
        ...{ accessList: [null], r: '0x1', s: '0x1', v: '0x0' },
      },
    ],
    ['no quantity', { type: '0x0', nonce: 'x' }],
    ['something that is not a type', { type: {} }],
    ['a deposit of Mantle', { ...DEPOSIT, ethValue: '0x0' }],
    ['a deposit of Mantle to an account', { ...DEPOSIT, ethTxValue: '0x0' }],
  ])('of %s cannot be told', (_what, json) => {
    expect(encodeTransaction(json)).toBeNull();
  });
});

/** Values as nodes return them: quantities without leading zeros. */
const quantity = fc.bigInt(0n, 2n ** 128n).map((value) => `0x${value.toString(16)}` as const);
const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}` as const;
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hexOf);
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf);
const data = fc.uint8Array({ maxLength: 120 }).map(hexOf);

/** A number in RLP: no bytes for zero. */
function rlpNumber(value: unknown): `0x${string}` {
  const digits = BigInt(String(value)).toString(16);
  return digits === '0' ? '0x' : `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

describe('types of chains of their own', () => {
  const message = fc.record({
    ...{
      chainId: quantity,
      nonce: quantity,
      value: quantity,
      gas: quantity,
      maxFeePerGas: quantity,
      maxRefund: quantity,
    },
    ...{ submissionFeeRefund: quantity, l1BaseFee: quantity, depositValue: quantity, retryValue: quantity },
    ...{ maxSubmissionFee: quantity, requestId: hash, ticketId: hash, from: address, refundTo: address },
    ...{
      beneficiary: address,
      to: fc.option(address),
      retryTo: fc.option(address),
      input: data,
      retryData: data,
    },
  });
  type Message = typeof message extends fc.Arbitrary<infer Value> ? Value : never;
  /** The fields of each Arbitrum type, with numbers marked. */
  const FIELDS: Readonly<Record<string, readonly (keyof Message | `#${keyof Message}`)[]>> = {
    '0x64': ['#chainId', 'requestId', 'from', 'to', '#value'],
    '0x65': ['#chainId', 'from', '#nonce', '#maxFeePerGas', '#gas', 'to', '#value', 'input'],
    '0x66': ['#chainId', 'requestId', 'from', '#maxFeePerGas', '#gas', 'to', '#value', 'input'],
    '0x68': [
      ...(['#chainId', '#nonce', 'from', '#maxFeePerGas', '#gas', 'to', '#value', 'input'] as const),
      ...(['ticketId', 'refundTo', '#maxRefund', '#submissionFeeRefund'] as const),
    ],
    '0x69': [
      ...([
        '#chainId',
        'requestId',
        'from',
        '#l1BaseFee',
        '#depositValue',
        '#maxFeePerGas',
        '#gas',
        'retryTo',
      ] as const),
      ...(['#retryValue', 'beneficiary', '#maxSubmissionFee', 'refundTo', 'retryData'] as const),
    ],
    '0x6a': ['#chainId', 'input'],
  };

  test.each(Object.keys(FIELDS))('of Arbitrum: %s is its fields in order, as viem writes RLP', (type) => {
    fc.assert(
      fc.property(message, (one) => {
        const fields = (FIELDS[type] ?? []).map((field) => {
          const name = field.replace('#', '') as keyof Message;
          return field.startsWith('#') ? rlpNumber(one[name]) : (one[name] ?? '0x');
        });
        expect(encodeTransaction({ ...one, type })).toEqual(
          Buffer.from(`${type}${toRlp(fields).slice(2)}`.slice(2), 'hex'),
        );
      }),
    );
  });

  test('of Celo: fees in a token, as viem writes it', () => {
    fc.assert(
      fc.property(
        fc.record({
          chainId: fc.integer({ min: 1, max: 2 ** 31 }),
          nonce: fc.nat(),
          gas: fc.nat(),
          to: address,
          feeCurrency: address,
          value: fc.nat(),
          input: data,
          maxFeePerGas: fc.nat(),
        }),
        (one) => {
          const [r, s] = [`0x${'12'.repeat(32)}`, `0x${'34'.repeat(32)}`] as const;
          const { input, ...call } = one;
          const bytes = serializeCelo(
            {
              ...call,
              data: input,
              type: 'cip64',
              maxPriorityFeePerGas: 0n,
              gas: BigInt(one.gas),
              value: BigInt(one.value),
              maxFeePerGas: BigInt(one.maxFeePerGas),
            },
            { r, s, yParity: 1 },
          );
          const numbers = Object.fromEntries(
            Object.entries(one).map(([name, value]) => [
              name,
              typeof value === 'number' ? `0x${value.toString(16)}` : value,
            ]),
          );
          const json = {
            ...numbers,
            type: '0x7b',
            maxPriorityFeePerGas: '0x0',
            accessList: [],
            r,
            s,
            yParity: '0x1',
          };
          expect(`0x${encodeTransaction(json)?.toString('hex')}`).toBe(bytes);
        },
      ),
    );
  });

  test('whose fields hash to something else are not known: the chain may have appended some', () => {
    const json = {
      type: '0x7b',
      hash: `0x${'12'.repeat(32)}`,
      chainId: '0x1',
      nonce: '0x0',
      maxPriorityFeePerGas: '0x0',
      maxFeePerGas: '0x1',
      gas: '0x1',
      value: '0x0',
      input: '0x',
      accessList: [],
      feeCurrency: `0x${'35'.repeat(20)}`,
      r: '0x1',
      s: '0x1',
      yParity: '0x0',
    };
    expect(checkTransactionHash(json)).toEqual({ result: 'unknown' });
    expect(checkTransactionHash({ ...json, type: '0x2' }).result).toBe('mismatch');
    expect(checkTransactionHash({ type: '0x2' })).toEqual({ result: 'malformed' });
    expect(checkTransactionHash({ type: '0x71' })).toEqual({ result: 'unknown' });
  });
});
