import { parseAddress, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import { nftTransferTopics, TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { exampleChain } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { nftTrades, WHOLE_BUNDLE_MAX } from './dataset.ts';
import {
  erc20,
  erc721,
  erc1155,
  native,
  orderFulfilled,
  SEAPORT_1_6,
} from './marketplaces/testing/example-seaport.ts';
import { decodeExample, decodeLogs } from './testing/example-trades.ts';
import { erc721Transfer, exampleAddress, exampleTransaction } from './testing/example-transaction.ts';

const seller = exampleAddress(1);
const buyer = exampleAddress(2);
const apes = exampleAddress(11);
const usdc = exampleAddress(14);
const order = {
  offerer: seller,
  recipient: buyer,
  offer: [erc721(apes, 7n)],
  consideration: [native(100n, seller)],
};
const sale = [orderFulfilled(order), erc721Transfer(apes, seller, buyer, 7n)];

describe('topics', () => {
  test('are those of the marketplaces deployed, of NFTs and of ERC-20 transfers, each once', () => {
    const topics = nftTrades.topics(exampleChain());
    expect(topics).toContain(orderFulfilled(order).topics[0]);
    for (const topic of [...nftTransferTopics(exampleChain()), TRANSFER_TOPIC]) expect(topics).toContain(topic);
    expect(new Set(topics).size).toBe(topics.length);
  });

  test('are fewer where fewer marketplaces are deployed', () => {
    const [onEthereum, onBase] = [exampleChain(), exampleChain({ id: 8453 })].map((chain) =>
      nftTrades.topics(chain),
    );
    expect(onBase?.length).toBeGreaterThan(0);
    expect(onBase?.length).toBeLessThan(onEthereum?.length ?? 0);
  });

  test('are none where none is deployed', () => {
    expect(nftTrades.topics(exampleChain({ id: 31_337 }))).toEqual([]);
    expect(nftTrades.topics(exampleChain({ nftTrades: false }))).toEqual([]);
  });
});

test('a row repeats the place of its fill', () => {
  const place = { blockNumber: 9, transactionIndex: 4, transactionHash: parseHash(`0x${'5'.repeat(64)}`) };
  const [row] = decodeLogs(exampleTransaction(sale, place));
  expect(row).toEqual({
    collectionKey: addressKey(apes),
    tokenAddress: apes,
    chainId: 1,
    blockNumber: 9,
    transactionIndex: 4,
    logIndex: 0,
    item: 0,
    leads: true,
    tokenId: '7',
    tokenIds: null,
    amounts: null,
    marketplace: 'opensea',
    protocol: 'seaport-1.6',
    marketplaceAddress: SEAPORT_1_6,
    seller,
    buyer,
    side: 0,
    paymentToken: null,
    price: '100',
    collections: 1,
    transactionHash: place.transactionHash,
    blockTimestamp: '2020-09-13T12:26:49Z',
  });
});

test('transactions are told apart by block and index, and each is decoded by itself', () => {
  const router = exampleAddress(3);
  const toRouter = [orderFulfilled({ ...order, recipient: router }), erc721Transfer(apes, seller, router, 7n)];
  const logs = [
    ...exampleTransaction(toRouter, { blockNumber: 1, transactionIndex: 3 }),
    ...exampleTransaction([erc721Transfer(apes, router, buyer, 7n)], { blockNumber: 1, transactionIndex: 4 }),
    ...exampleTransaction(toRouter, { blockNumber: 2, transactionIndex: 4 }),
  ];
  expect(decodeLogs(logs).map((row) => [row.blockNumber, row.transactionIndex, row.buyer])).toEqual([
    [1, 3, router],
    [2, 4, router],
  ]);
});

describe('rows of one trade', () => {
  test('one for each different id, in the event’s order, ids and amounts whole', () => {
    const offer = [erc1155(apes, 2n, 5n), erc721(apes, 1n), erc1155(apes, 2n, 6n)];
    const rows = decodeExample([orderFulfilled({ ...order, offer })]);
    expect(rows.map((row) => [row.tokenId, row.item, row.leads])).toEqual([
      ['2', 0, true],
      ['1', 1, false],
    ]);
    for (const row of rows) {
      expect(row.tokenIds).toEqual(['2', '1', '2']);
      expect(row.amounts).toEqual(['5', '1', '6']);
    }
  });

  test('of a very large bundle stay small, except for the one that leads', () => {
    const count = WHOLE_BUNDLE_MAX + 1;
    const ids = Array.from({ length: count }, (_, index) => String(index));
    const rows = decodeExample([orderFulfilled({ ...order, offer: ids.map((id) => erc721(apes, BigInt(id))) })]);
    expect(rows.map((row) => row.tokenId)).toEqual(ids);
    expect(rows[0]?.tokenIds).toEqual(ids);
    for (const row of rows.slice(1)) {
      expect(row.tokenIds).toHaveLength(WHOLE_BUNDLE_MAX);
      expect(row.tokenIds).toContain(row.tokenId);
      expect(row.amounts).toHaveLength(WHOLE_BUNDLE_MAX);
    }
  });

  test('of a very large bundle never look like the sale of one token', () => {
    const offer = [erc721(apes, 1n), ...Array.from({ length: WHOLE_BUNDLE_MAX }, () => erc1155(apes, 2n, 1n))];
    const rows = decodeExample([orderFulfilled({ ...order, offer })]);
    expect(rows.map((row) => new Set(row.tokenIds))).toEqual([new Set(['1', '2']), new Set(['1', '2'])]);
  });
});

test('of one unit of one token, neither ids nor amounts are told; of several units the amount is', () => {
  const rowsOf = (...offer: Parameters<typeof orderFulfilled>[0]['offer']) =>
    decodeExample([orderFulfilled({ ...order, offer })]).map(({ tokenIds, amounts }) => [tokenIds, amounts]);
  expect(rowsOf(erc721(apes, 7n))).toEqual([[null, null]]);
  expect(rowsOf(erc1155(apes, 7n, 1n))).toEqual([[null, null]]);
  expect(rowsOf(erc1155(apes, 7n, 2n))).toEqual([[null, ['2']]]);
  expect(rowsOf(erc1155(apes, 7n, 1n), erc1155(apes, 7n, 1n))).toEqual([
    [
      ['7', '7'],
      ['1', '1'],
    ],
  ]);
});

test('of a bundle, rows of two contracts that were made to have one key have places of their own', () => {
  const twin = parseAddress(`${apes.slice(0, 10)}${'ef'.repeat(12)}${apes.slice(34)}`);
  expect([addressKey(twin), twin === apes]).toEqual([addressKey(apes), false]);
  const offer = [erc721(apes, 7n), erc721(twin, 7n), erc721(usdc, 7n), erc721(apes, 8n)];
  const rows = decodeExample([orderFulfilled({ ...order, offer })]);
  expect(rows.map((row) => [row.tokenAddress, row.tokenId, row.item, row.leads])).toEqual([
    [apes, '7', 0, true],
    [apes, '8', 1, false],
    [twin, '7', 2, true],
    [usdc, '7', 0, true],
  ]);
});

test('a trade with nobody on one side is none', () => {
  expect(decodeExample([orderFulfilled({ ...order, offerer: ZERO_ADDRESS })])).toEqual([]);
});

test('contracts are the tokens paid with, each once', () => {
  const paid = { ...order, consideration: [erc20(usdc, 5n, seller)] };
  const rows = decodeExample([orderFulfilled(paid), orderFulfilled(order), orderFulfilled(paid)]);
  expect([...(nftTrades.contracts?.(rows) ?? [])]).toEqual([{ address: usdc, standard: 'erc20' }]);
});
