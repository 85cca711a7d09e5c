import { type Hash, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { describe, expect, it, test } from 'vitest';
import { decodeNftTransfers } from './decode-nft-transfers.ts';
import {
  CONSECUTIVE_IDS_MAX,
  CONSECUTIVE_IDS_OF_BLOCK_MAX,
  MALFORMED_REASONS,
  NFT_TRANSFER_KINDS,
} from './nft-transfer.ts';
import {
  ALICE,
  BOB,
  batchLog,
  CAROL,
  COLLECTION,
  consecutiveLog,
  erc20Log,
  erc721Log,
  placed,
  rawBatchLog,
  singleLog,
  UINT256_MAX,
  unindexedLog,
} from './testing/example-logs.ts';

const KITTIES = `0x${'06'.repeat(20)}` as typeof COLLECTION;
const CHAIN = exampleChain({ unindexedNfts: [KITTIES] });
const decode = (...logs: Log[]) => decodeNftTransfers(logs, CHAIN);
const reasons = (...logs: Log[]) => decode(...logs).malformed.map(({ reason }) => reason);
const { undecodable, lengthsDiffer, emptyRange } = MALFORMED_REASONS;

function common(log: Log) {
  return { log, item: 0, token: log.address, lastTokenId: null, amount: '1', operator: null };
}

describe('ERC-721', () => {
  it('is a Transfer with four topics and no data', () => {
    const log = erc721Log(ALICE, BOB, UINT256_MAX);
    expect(decode(log)).toEqual({
      transfers: [
        {
          ...common(log),
          kind: NFT_TRANSFER_KINDS.erc721,
          tokenId: UINT256_MAX.toString(),
          from: ALICE,
          to: BOB,
        },
      ],
      malformed: [],
    });
  });

  it.each([
    ['data', placed(erc721Log(ALICE, BOB, 1n), { data: `0x${'00'.repeat(32)}` })],
    ['a sender that is no address', withTopic(erc721Log(ALICE, BOB, 1n), 1, `0x01${'0'.repeat(62)}`)],
    ['a receiver that is no address', withTopic(erc721Log(ALICE, BOB, 1n), 2, `0x${'f'.repeat(64)}`)],
  ])('with %s is malformed', (_, log) => {
    expect(decode(log)).toEqual({ transfers: [], malformed: [{ log, reason: undecodable }] });
  });

  it('is not an ERC-20 transfer, nor a Transfer of any other number of topics', () => {
    const log = erc721Log(ALICE, BOB, 1n);
    const others = [0, 1, 2].map((topics) => placed(log, { topics: log.topics.slice(0, topics) }));
    expect(decode(erc20Log(ALICE, BOB, 5n), ...others)).toEqual({ transfers: [], malformed: [] });
  });
});

describe('ERC-1155', () => {
  it('moves one id by a TransferSingle, any amount of it', () => {
    const log = singleLog(ALICE, BOB, 7n, UINT256_MAX);
    expect(decode(log).transfers).toEqual([
      {
        ...common(log),
        kind: NFT_TRANSFER_KINDS.erc1155Single,
        tokenId: '7',
        amount: UINT256_MAX.toString(),
        from: ALICE,
        to: BOB,
        operator: CAROL,
      },
    ]);
  });

  it('moves each id of a TransferBatch, one that is repeated each time', () => {
    const log = batchLog(ALICE, BOB, [3n, 3n, 9n], [1n, 2n, 0n]);
    const batch = {
      ...common(log),
      kind: NFT_TRANSFER_KINDS.erc1155Batch,
      from: ALICE,
      to: BOB,
      operator: CAROL,
    };
    expect(decode(log)).toEqual({
      transfers: [
        { ...batch, item: 0, tokenId: '3', amount: '1' },
        { ...batch, item: 1, tokenId: '3', amount: '2' },
        { ...batch, item: 2, tokenId: '9', amount: '0' },
      ],
      malformed: [],
    });
  });

  it('moves nothing by an empty batch', () => {
    expect(decode(batchLog(ALICE, BOB, [], []))).toEqual({ transfers: [], malformed: [] });
  });

  it('moves a thousand ids in one batch', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => UINT256_MAX - BigInt(index));
    const { transfers } = decode(batchLog(ALICE, BOB, ids, ids));
    expect(transfers.map(({ tokenId }) => tokenId)).toEqual(ids.map(String));
    expect(transfers.map(({ amount }) => amount)).toEqual(ids.map(String));
    expect(transfers.map(({ item }) => item)).toEqual(ids.map((_, index) => index));
  });

  it('takes a batch whole for malformed when its lengths differ', () => {
    const log = batchLog(ALICE, BOB, [1n, 2n], [5n]);
    expect(decode(log)).toEqual({ transfers: [], malformed: [{ log, reason: lengthsDiffer }] });
    expect(reasons(batchLog(ALICE, BOB, [], [5n]), batchLog(ALICE, BOB, [5n], []))).toEqual([
      lengthsDiffer,
      lengthsDiffer,
    ]);
  });

  it('takes arrays in the other order and unused words', () => {
    const swapped = rawBatchLog(0x80n, 0x40n, 1n, 50n, 1n, 7n);
    const gap = rawBatchLog(0x60n, 0xc0n, 0xffn, 1n, 7n, 0xffn, 1n, 50n);
    for (const log of [swapped, gap])
      expect(decode(log).transfers).toMatchObject([{ tokenId: '7', amount: '50', item: 0 }]);
  });

  test.each([
    ['nothing'],
    ['one word', 0x40n],
    ['offsets and no arrays', 0x40n, 0x60n],
    ['offsets to its own head', 0n, 0x20n, 0n, 0n],
    ['an offset behind the end', 0x40n, 0x80n, 0n, 0n],
    ['an offset that wraps around', 0x40n, UINT256_MAX - 31n, 0n, 0n],
    ['an offset within a word', 0x40n, 0x61n, 0n, 0n],
    ['a length behind the end', 0x40n, 0x60n, 2n, 0n],
    ['a length of 2^256 - 1', 0x40n, 0x60n, 0n, UINT256_MAX],
    ['a length of 2^52 - 1', 0x40n, 0x60n, 0n, 2n ** 52n - 1n],
    ['both arrays at one place', 0x40n, 0x40n, 1n, 7n],
    ['arrays that share a word', 0x40n, 0x60n, 1n, 1n, 7n],
    ['one array within the other', 0x40n, 0xa0n, 3n, 1n, 1n, 1n, 9n],
  ])('takes a batch for malformed whose data holds %s', (_, ...data) => {
    const log = rawBatchLog(...(data as bigint[]));
    expect(decode(log)).toEqual({ transfers: [], malformed: [{ log, reason: undecodable }] });
  });

  test.each([
    ['a batch with half a word', placed(batchLog(ALICE, BOB, [1n], [1n]), { data: withoutEnd(rawBatch(), 32) })],
    ['a batch with a byte too many', placed(batchLog(ALICE, BOB, [1n], [1n]), { data: `${rawBatch()}00` })],
    ['a single with one word', placed(singleLog(ALICE, BOB, 1n, 1n), { data: `0x${'00'.repeat(32)}` })],
    ['a single with three words', placed(singleLog(ALICE, BOB, 1n, 1n), { data: `0x${'00'.repeat(96)}` })],
    ['a single with no data', placed(singleLog(ALICE, BOB, 1n, 1n), { data: '0x' })],
    ['a single with three topics', withoutLastTopic(singleLog(ALICE, BOB, 1n, 1n))],
    ['a batch with three topics', withoutLastTopic(batchLog(ALICE, BOB, [1n], [1n]))],
    ['an operator that is no address', withTopic(singleLog(ALICE, BOB, 1n, 1n), 1, `0x01${'0'.repeat(62)}`)],
    ['a receiver that is no address', withTopic(batchLog(ALICE, BOB, [1n], [1n]), 3, `0x01${'0'.repeat(62)}`)],
  ])('takes %s for malformed', (_, log) => {
    expect(decode(log)).toEqual({ transfers: [], malformed: [{ log, reason: undecodable }] });
  });
});

describe('ERC-2309', () => {
  it('moves every id of the range, its ends included', () => {
    const log = consecutiveLog(UINT256_MAX - 2n, UINT256_MAX, BOB);
    expect(decode(log).transfers).toEqual(
      [UINT256_MAX - 2n, UINT256_MAX - 1n, UINT256_MAX].map((id, item) => ({
        ...common(log),
        kind: NFT_TRANSFER_KINDS.consecutive,
        item,
        tokenId: id.toString(),
        from: ZERO_ADDRESS,
        to: BOB,
      })),
    );
  });

  it('moves one id where first and last are the same', () => {
    expect(decode(consecutiveLog(5n, 5n)).transfers).toMatchObject([{ tokenId: '5', item: 0 }]);
  });

  it('expands the largest range allowed, and keeps a larger one as one transfer', () => {
    const largest = decode(consecutiveLog(1n, BigInt(CONSECUTIVE_IDS_MAX))).transfers;
    expect(largest).toHaveLength(50_000);
    expect(new Set(largest.map(({ tokenId }) => tokenId)).size).toBe(50_000);
    expect(largest.every(({ lastTokenId }) => lastTokenId === null)).toBe(true);

    const log = consecutiveLog(0n, BigInt(CONSECUTIVE_IDS_MAX));
    const range = { ...common(log), kind: NFT_TRANSFER_KINDS.consecutive, from: ZERO_ADDRESS, to: ALICE };
    expect(decode(log).transfers).toEqual([{ ...range, tokenId: '0', lastTokenId: '50000' }]);
    const all = consecutiveLog(0n, UINT256_MAX);
    expect(decode(all).transfers).toEqual([
      { ...range, log: all, tokenId: '0', lastTokenId: UINT256_MAX.toString() },
    ]);
  });

  it('expands as many of a block, in chain order, as fit into its bound; others stay one transfer each', () => {
    const sizes = [50_000, 40_000, 50_000, 60_000, 10_001, 10_000, 1];
    const logs = [7, 8].flatMap((blockNumber) =>
      sizes.map((size, logIndex) => placed(consecutiveLog(1n, BigInt(size)), { blockNumber, logIndex })),
    );
    // Neither what can't be read nor other transfers count.
    const first = placed(consecutiveLog(2n, 1n), { blockNumber: 7 });
    const { transfers } = decode(first, erc721Log(ALICE, BOB, 1n), ...logs);
    const expanded = Map.groupBy(
      transfers.filter(({ kind }) => kind === NFT_TRANSFER_KINDS.consecutive),
      ({ log }) => log,
    );
    const counts = logs.map((log) => expanded.get(log)?.length);
    expect(counts).toEqual([50_000, 40_000, 1, 1, 1, 10_000, 1, 50_000, 40_000, 1, 1, 1, 10_000, 1]);
    const ranges = transfers.flatMap(({ lastTokenId }) => lastTokenId ?? []);
    expect(ranges).toEqual(['50000', '60000', '10001', '1', '50000', '60000', '10001', '1']);
    expect(50_000 + 40_000 + 10_000).toBe(CONSECUTIVE_IDS_OF_BLOCK_MAX);
  });

  it('is malformed where the last id is below the first, or its shape is another', () => {
    const log = consecutiveLog(5n, 6n);
    expect(reasons(consecutiveLog(6n, 5n))).toEqual([emptyRange]);
    expect(
      reasons(
        withoutLastTopic(log),
        placed(log, { data: '0x' }),
        placed(log, { data: `0x${'00'.repeat(64)}` }),
        withTopic(log, 3, `0x01${'0'.repeat(62)}`),
      ),
    ).toEqual([undecodable, undecodable, undecodable, undecodable]);
  });
});

describe('contracts whose Transfer has all arguments in its data', () => {
  it('are read where the chain names them, and nowhere else', () => {
    const log = unindexedLog(ALICE, BOB, 1234n, KITTIES);
    expect(decode(log).transfers).toEqual([
      { ...common(log), kind: NFT_TRANSFER_KINDS.unindexed, tokenId: '1234', from: ALICE, to: BOB },
    ]);
    expect(decode(unindexedLog(ALICE, BOB, 1234n, COLLECTION))).toEqual({ transfers: [], malformed: [] });
  });

  it('are malformed with any other data', () => {
    const log = unindexedLog(ALICE, BOB, 1n, KITTIES);
    expect(
      reasons(
        placed(log, { data: withoutEnd(log.data, 64) }),
        placed(log, { data: `0x${'f'.repeat(192)}` }),
        placed(log, { data: '0x' }),
      ),
    ).toEqual([undecodable, undecodable, undecodable]);
  });
});

it('gives transfers and malformed logs in the order of the logs', () => {
  const logs = [
    singleLog(ALICE, BOB, 1n, 1n),
    consecutiveLog(2n, 1n),
    erc721Log(ALICE, BOB, 2n),
    batchLog(ALICE, BOB, [3n, 4n], [1n, 1n]),
    placed(erc721Log(ALICE, BOB, 9n), { data: '0x00' }),
    erc721Log(BOB, ALICE, 5n),
  ];
  expect(decode(...logs).transfers.map(({ tokenId }) => tokenId)).toEqual(['1', '2', '3', '4', '5']);
  expect(reasons(...logs)).toEqual([emptyRange, undecodable]);
});

function withTopic(log: Log, place: number, topic: string): Log {
  return { ...log, topics: log.topics.with(place, topic as Hash) };
}

function withoutLastTopic(log: Log): Log {
  return { ...log, topics: log.topics.slice(0, -1) };
}

function withoutEnd(data: Hex, digits: number): Hex {
  return data.slice(0, -digits) as Hex;
}

function rawBatch(): Hex {
  return batchLog(ALICE, BOB, [1n], [1n]).data;
}
