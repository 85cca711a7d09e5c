import { createChainRegistry } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { exampleApi } from '@chainstead/http/testing';
import { addressOf, hashOf, storeToken, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { blocksOf, eth, getTradesPage } from './testing/requested-trades.ts';
import {
  BUYER,
  COLLECTION,
  SEAPORT,
  SELLER,
  type SeededTrade,
  seedDatasetCoverage,
  seedTrades,
} from './testing/seeded-trades.ts';
import { collectionTradesRoute, tokenTradesRoute, walletTradesRoute } from './trades-route.ts';

const WETH = addressOf(0x2e);
const MAX_ID = (2n ** 256n - 1n).toString();
const bytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

const scratch = scratchOfFile();
const api = madeForFile(() =>
  exampleApi(scratch.database, [tokenTradesRoute, collectionTradesRoute, walletTradesRoute]),
);
beforeEach(() =>
  scratch.database.query(
    sql`TRUNCATE nft_trades, nft_sale_days, blocks, sync_ranges, tokens, collection_list_entries`,
  ),
);

const seed = (...trades: SeededTrade[]): Promise<void> => seedTrades(scratch.database, eth, trades);
const tokenTrades = (query = '', tokenId = '1') =>
  getTradesPage(api, `/nft/${COLLECTION}/${tokenId}/trades${query}`);
const collectionTrades = (query = '') => getTradesPage(api, `/nft/${COLLECTION}/trades${query}`);
const walletTrades = (query = '', wallet: Address = SELLER) =>
  getTradesPage(api, `/wallets/${wallet}/nfts/trades${query}`);

describe('a trade', () => {
  test('is shown with every field, all of them text', async () => {
    await seed({
      blockNumber: 7,
      transactionIndex: 254,
      logIndex: 9,
      paymentToken: WETH,
      price: '69990000000000000',
    });
    await seedDatasetCoverage(scratch.database, eth, 'nft-trades', 0, 10);
    const expected = {
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '10', complete: true },
      result: [
        {
          transaction_hash: hashOf(2, 7_254),
          transaction_index: '254',
          token_ids: ['1'],
          seller_address: SELLER,
          buyer_address: BUYER,
          token_address: COLLECTION,
          marketplace_address: SEAPORT,
          price_token_address: WETH,
          price: '69990000000000000',
          block_timestamp: new Date(timestampOf(7) * 1000).toISOString(),
          block_number: '7',
          block_hash: hashOf(1, 7),
          verified_collection: false,
          nft_metadata: null,
        },
      ],
    };
    expect(await tokenTrades()).toEqual(expected);
    expect(await collectionTrades()).toEqual(expected);
    expect(await walletTrades()).toEqual(expected);
    expect(await walletTrades('', BUYER)).toEqual(expected);
    expect(expected.result[0]?.block_timestamp).toMatch(/\.000Z$/);
  });

  test('paid in the native currency has no price token', async () => {
    await seed({ blockNumber: 1 });
    expect((await tokenTrades()).result[0]?.price_token_address).toBeNull();
  });

  test('of a bundle lists all ids in the event’s order, is one row of its collection and one of each token', async () => {
    const tokenIds = ['1002', '7228', '1', '1'];
    await seed({ blockNumber: 1, tokenIds });
    expect((await collectionTrades()).result.map((row) => row.token_ids)).toEqual([tokenIds]);
    expect((await walletTrades()).result.map((row) => row.token_ids)).toEqual([tokenIds]);
    for (const id of ['1', '7228', '1002'])
      expect((await tokenTrades('', id)).result.map((row) => row.token_ids)).toEqual([tokenIds]);
    expect((await tokenTrades('', '2')).result).toEqual([]);
  });

  test('over several collections is one row of each, with the price of the order', async () => {
    const other = addressOf(0x07e4);
    await seed(
      { blockNumber: 1, collections: 2, price: '30' },
      { blockNumber: 1, collections: 2, price: '30', token: other, tokenIds: ['5'] },
    );
    expect((await walletTrades()).result.map((row) => [row.token_address, row.token_ids, row.price])).toEqual([
      [COLLECTION, ['1'], '30'],
      [other, ['5'], '30'],
    ]);
    expect((await collectionTrades()).result).toHaveLength(1);
  });

  test('keeps ids and prices of 78 digits', async () => {
    await seed({ blockNumber: 1, tokenIds: [MAX_ID], price: MAX_ID });
    const hexadecimal = `0x${'F'.repeat(64)}`;
    for (const id of [MAX_ID, hexadecimal])
      expect((await tokenTrades('', id)).result).toMatchObject([{ token_ids: [MAX_ID], price: MAX_ID }]);
  });

  test('is found by a token id in any spelling', async () => {
    await seed({ blockNumber: 1, tokenIds: ['26'] });
    for (const id of ['26', '0x1a', '0X1A', '0x001a', '0026'])
      expect((await tokenTrades('', id)).result).toHaveLength(1);
  });

  test('at price zero, or with oneself, is listed', async () => {
    await seed({ blockNumber: 1, price: '0' }, { blockNumber: 2, seller: BUYER, buyer: BUYER });
    expect((await tokenTrades()).result.map((row) => row.price)).toEqual(['1000000000000000000', '0']);
  });

  test('is verified where an imported list says so', async () => {
    await seed({ blockNumber: 1 });
    await storeToken(scratch.database, 1, COLLECTION, { facts_status: 'known', verified: true });
    expect((await tokenTrades()).result[0]?.verified_collection).toBe(true);
    await scratch.database.query(
      sql`INSERT INTO collection_list_entries (token_address, chain_id, source, verified) VALUES (${bytes(COLLECTION)}, 1, 'b', false), (${bytes(COLLECTION)}, 1, 'a', NULL)`,
    );
    expect((await tokenTrades()).result[0]?.verified_collection).toBe(false);
  });
});

describe('marketplaces', () => {
  beforeEach(() =>
    seed(
      { blockNumber: 1 },
      { blockNumber: 2, marketplace: 'blur' },
      { blockNumber: 3, marketplace: '0xprotocol' },
      { blockNumber: 4, marketplace: 'cryptopunks' },
      { blockNumber: 5, tokenIds: ['2'] },
    ),
  );

  test('a collection shows OpenSea’s trades unless told otherwise', async () => {
    expect(blocksOf(await collectionTrades())).toEqual([5, 1]);
    expect(blocksOf(await collectionTrades('?marketplace=opensea'))).toEqual([5, 1]);
    expect(blocksOf(await collectionTrades('?marketplace=Blur'))).toEqual([2]);
    expect(blocksOf(await collectionTrades('?marketplace=0xprotocol'))).toEqual([3]);
    expect(blocksOf(await collectionTrades('?marketplace=cryptopunks'))).toEqual([4]);
    expect(blocksOf(await collectionTrades('?marketplace=x2y2'))).toEqual([]);
    expect(blocksOf(await collectionTrades('?marketplace=all'))).toEqual([5, 4, 3, 2, 1]);
  });

  test('a token and a wallet show those of every marketplace', async () => {
    expect(blocksOf(await tokenTrades())).toEqual([4, 3, 2, 1]);
    expect(blocksOf(await walletTrades())).toEqual([5, 4, 3, 2, 1]);
    // Routes ignore unknown parameters.
    expect(blocksOf(await tokenTrades('?marketplace=blur'))).toEqual([4, 3, 2, 1]);
  });
});

describe('a wallet', () => {
  test('sees what it sold and what it bought in one order, a trade with itself once', async () => {
    await seed(
      { blockNumber: 1, seller: SELLER },
      { blockNumber: 2, seller: BUYER, buyer: SELLER },
      { blockNumber: 3, seller: SELLER, buyer: SELLER },
      { blockNumber: 4, seller: BUYER, buyer: addressOf(9) },
      { blockNumber: 5, seller: addressOf(9), buyer: SELLER },
    );
    expect(blocksOf(await walletTrades())).toEqual([5, 3, 2, 1]);
    expect(blocksOf(await walletTrades('', ZERO_ADDRESS))).toEqual([]);
  });
});

describe('bounds', () => {
  const date = (block: number, seconds = 0): string =>
    new Date((timestampOf(block) + seconds) * 1000).toISOString();
  beforeEach(() => seed(...Array.from({ length: 9 }, (_, index) => ({ blockNumber: index + 1 }))));

  test.each([
    ['token', tokenTrades],
    ['collection', collectionTrades],
    ['wallet', walletTrades],
  ] as const)('of a %s’s trades include their ends, and a block wins over a date', async (_, get) => {
    expect(blocksOf(await get('?from_block=3&to_block=5'))).toEqual([5, 4, 3]);
    expect(blocksOf(await get(`?from_date=${date(3)}&to_date=${date(5)}`))).toEqual([5, 4, 3]);
    expect(blocksOf(await get(`?from_date=${date(3, 1)}&to_date=${date(5, -1)}`))).toEqual([4]);
    expect(blocksOf(await get(`?from_date=${timestampOf(8)}`))).toEqual([9, 8]);
    expect(blocksOf(await get(`?from_block=8&from_date=${date(2)}`))).toEqual([9, 8]);
    expect(blocksOf(await get(`?to_block=2&to_date=${date(8)}`))).toEqual([2, 1]);
  });

  test('say whether the blocks that were asked for are indexed', async () => {
    await seedDatasetCoverage(scratch.database, eth, 'nft-trades', 4, 9);
    expect((await tokenTrades()).indexed).toEqual({ from_block: '4', to_block: '9', complete: false });
    expect((await tokenTrades('?from_block=4')).indexed.complete).toBe(true);
    expect((await tokenTrades('?from_block=4&to_block=10')).indexed.complete).toBe(false);
    await seedDatasetCoverage(scratch.database, eth, 'erc20-transfers', 0, 3);
    expect((await tokenTrades()).indexed.complete).toBe(false);
  });
});

describe('chains', () => {
  test('another chain’s rows stay out', async () => {
    await seed({ blockNumber: 1 });
    await seedTrades(scratch.database, createChainRegistry().get('base'), [{ blockNumber: 2 }]);
    for (const get of [tokenTrades, collectionTrades, walletTrades])
      for (const [chain, block] of [
        ['eth', 1],
        ['0x2105', 2],
      ])
        expect(blocksOf(await get(`?chain=${chain}`))).toEqual([block]);
  });

  test('one that is known but without trades here answers an empty page that says so', async () => {
    for (const get of [tokenTrades, collectionTrades, walletTrades])
      expect(await get('?chain=polygon')).toEqual({
        page: 0,
        page_size: 100,
        cursor: null,
        indexed: { from_block: null, to_block: null, complete: false },
        result: [],
      });
  });
});
