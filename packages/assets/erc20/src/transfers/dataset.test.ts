import { type Address, type Hash, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { exampleChain, fieldsOfRow } from '@chainstead/testkit';
import fc from 'fast-check';
import { decodeEventLog, encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Transfers } from './dataset.ts';

const ABI = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);
const TIMESTAMP = 1_700_000_000;

const context = (exclusions: readonly Address[] = []) => ({
  chain: exampleChain({ erc20Exclusions: exclusions }),
  timestampOf: (block: number) => TIMESTAMP + block,
});

const hexOf = (bytes: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((raw): Hex => `0x${Buffer.from(raw).toString('hex')}`);
const addresses = fc.oneof(hexOf(20) as fc.Arbitrary<Address>, fc.constant(ZERO_ADDRESS));
const hashes = hexOf(32) as fc.Arbitrary<Hash>;
const amounts = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: 2n ** 52n - 2n, max: 2n ** 53n + 2n }),
  fc.constantFrom(0n, 1n, 2n ** 256n - 1n),
);

const transfers = fc.record({
  from: addresses,
  to: addresses,
  value: amounts,
  token: addresses,
  self: fc.boolean(),
});
const places = fc.record({
  blockNumber: fc.nat(),
  blockHash: hashes,
  transactionHash: hashes,
  transactionIndex: fc.nat(10_000),
  logIndex: fc.nat(100_000),
});

function encode(
  transfer: { from: Hex; to: Hex; value: bigint; token: Address },
  place: Omit<Log, 'address' | 'topics' | 'data' | 'blockTimestamp'>,
): Log {
  const topics = encodeEventTopics({
    abi: ABI,
    eventName: 'Transfer',
    args: { from: transfer.from, to: transfer.to },
  });
  return {
    ...place,
    address: transfer.token,
    topics: topics.map((topic) => String(topic) as Hash),
    data: encodeAbiParameters([{ type: 'uint256' }], [transfer.value]),
    blockTimestamp: null,
  };
}

function decodeWithViem(log: Log): { from: Hex; to: Hex; value: bigint } {
  const [signature, ...indexed] = log.topics;
  const { args } = decodeEventLog({
    abi: ABI,
    eventName: 'Transfer',
    topics: [signature as Hash, ...indexed],
    data: log.data,
  });
  if (!('from' in args)) throw new Error('viem decoded no parameters');
  return args;
}

function accountColumns(account: string) {
  const bytes = Buffer.from(account.slice(2), 'hex');
  const accountKey = Buffer.concat([bytes.subarray(0, 4), bytes.subarray(16)])
    .readBigInt64BE()
    .toString();
  return { accountKey, account };
}

const plainLog = (): Log =>
  encode(
    {
      from: `0x${'11'.repeat(20)}`,
      to: `0x${'22'.repeat(20)}`,
      value: 5n,
      token: `0x${'33'.repeat(20)}` as Address,
    },
    {
      blockNumber: 7,
      blockHash: `0x${'44'.repeat(32)}` as Hash,
      transactionHash: `0x${'55'.repeat(32)}` as Hash,
      transactionIndex: 1,
      logIndex: 2,
    },
  );

describe('decode', () => {
  test('gives both sides of whatever an independent encoder wrote, a self-transfer once', () => {
    fc.assert(
      fc.property(transfers, places, (transfer, place) => {
        const to = transfer.self ? transfer.from : transfer.to;
        const log = encode({ ...transfer, to }, place);
        const decoded = decodeWithViem(log);
        const [from, receiver] = [decoded.from.toLowerCase(), decoded.to.toLowerCase()];
        const { blockHash: _inBlocks, ...common } = {
          chainId: 1,
          ...place,
          token: transfer.token,
          value: decoded.value.toString(),
        };
        const sides =
          from === receiver
            ? [{ ...common, ...accountColumns(from), counterparty: receiver, direction: 2 }]
            : [
                { ...common, ...accountColumns(from), counterparty: receiver, direction: 0 },
                { ...common, ...accountColumns(receiver), counterparty: from, direction: 1 },
              ];
        expect(erc20Transfers.decode([log], context())).toEqual(sides);
      }),
    );
  });

  test('gives nothing for any other shape of log', () => {
    const shapes = fc.record({
      topics: fc.array(fc.oneof(hashes, fc.constant(TRANSFER_TOPIC)), { maxLength: 5 }),
      data: fc.nat(70).chain(hexOf),
    });
    const isTransfer = (topics: readonly string[], data: string) =>
      topics.length === 3 &&
      topics[0] === TRANSFER_TOPIC &&
      data.length === 66 &&
      topics.slice(1).every((topic) => BigInt(topic) < 2n ** 160n);
    fc.assert(
      fc.property(shapes, ({ topics, data }) => {
        fc.pre(!isTransfer(topics, data));
        expect(erc20Transfers.decode([{ ...plainLog(), topics, data }], context())).toEqual([]);
      }),
    );
  });

  test.each([
    [
      'four topics (ERC-721)',
      (log: Log) => ({ ...log, topics: [...log.topics, log.topics[1] as Hash], data: '0x' as Hex }),
    ],
    ['four topics with data', (log: Log) => ({ ...log, topics: [...log.topics, log.topics[1] as Hash] })],
    ['two topics (nothing indexed but one)', (log: Log) => ({ ...log, topics: log.topics.slice(0, 2) })],
    ['31 bytes of data', (log: Log) => ({ ...log, data: log.data.slice(0, -2) as Hex })],
    ['33 bytes of data', (log: Log) => ({ ...log, data: `${log.data}00` as Hex })],
    ['no data', (log: Log) => ({ ...log, data: '0x' as Hex })],
    [
      'another event',
      (log: Log) => ({ ...log, topics: [`0x${'ab'.repeat(32)}` as Hash, ...log.topics.slice(1)] }),
    ],
    [
      'a sender topic that is no address',
      (log: Log) => ({ ...log, topics: log.topics.with(1, `0x01${'0'.repeat(62)}` as Hash) }),
    ],
    [
      'the emitter of native transfers (EIP-7708)',
      (log: Log) => ({ ...log, address: `0x${'f'.repeat(39)}e` as Address }),
    ],
    [
      'a receiver topic that is no address',
      (log: Log) => ({ ...log, topics: log.topics.with(2, `0x${'0'.repeat(23)}1${'0'.repeat(40)}` as Hash) }),
    ],
  ])('ignores a log with %s', (_, change) => {
    expect(erc20Transfers.decode([plainLog()], context())).toHaveLength(2);
    expect(erc20Transfers.decode([change(plainLog())], context())).toEqual([]);
  });

  test('leaves out contracts that the chain excludes', () => {
    const log = plainLog();
    expect(erc20Transfers.decode([log], context([log.address]))).toEqual([]);
    expect(erc20Transfers.decode([log], context([`0x${'99'.repeat(20)}` as Address]))).toHaveLength(2);
  });
});

test('copyLine writes the columns in order', () => {
  const [sent] = erc20Transfers.decode([plainLog()], context());
  expect(sent).toBeDefined();
  const line = sent === undefined ? '' : erc20Transfers.table.copyLine(sent);
  expect(fieldsOfRow(line)).toEqual([
    '11'.repeat(8),
    '0000000000000001',
    '00000007',
    '00000001',
    '00000002',
    '0000',
    '11'.repeat(20),
    '33'.repeat(20),
    '22'.repeat(20),
    '00010000000000000005',
    '55'.repeat(32),
  ]);
  expect(fieldsOfRow(line)).toHaveLength(erc20Transfers.table.columns.length);
});

test('contracts names each token once', () => {
  const other = { ...plainLog(), address: `0x${'77'.repeat(20)}` as Address };
  const rows = erc20Transfers.decode([plainLog(), other, plainLog()], context());
  expect([...(erc20Transfers.contracts?.(rows) ?? [])]).toEqual([
    { address: plainLog().address, standard: 'erc20' },
    { address: other.address, standard: 'erc20' },
  ]);
});

test('histories of a wallet ask for both sides, and those of a contract for all of its transfers', () => {
  const [chain, account] = [exampleChain(), plainLog().address];
  const { ofWallet, ofContract } = erc20Transfers.histories ?? {};
  const topic = `0x${'0'.repeat(24)}${account.slice(2)}`;
  expect(ofWallet?.(chain, account)).toEqual([
    { topics: [TRANSFER_TOPIC], indexed: [[topic]] },
    { topics: [TRANSFER_TOPIC], indexed: [null, [topic]] },
  ]);
  expect(ofContract?.(chain, account)).toEqual([{ topics: [TRANSFER_TOPIC], addresses: [account] }]);
});
