import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { exampleApi } from '@chainstead/http/testing';
import { addressOf, hashOf, seedBuilt, storeToken } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { saleDays } from '../trades/sale-days.ts';
import {
  BUYER,
  COLLECTION,
  removeTrades,
  SELLER,
  type SeededTrade,
  seedDatasetCoverage,
  seedTrades,
} from '../trades/testing/seeded-trades.ts';
import { collectionSalePricesRoute, tokenSalePricesRoute } from './sale-prices-route.ts';
import {
  blockAgo,
  DAY,
  ether,
  getCollectionPrices,
  getTokenPrices,
  NOW,
  sale,
} from './testing/requested-prices.ts';

const registry = createChainRegistry();
const eth = registry.get('eth');
const polygon = registry.get('polygon');
const bytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, [tokenSalePricesRoute, collectionSalePricesRoute]));
beforeEach(() =>
  scratch.database.query(sql`TRUNCATE nft_trades, nft_sale_days, punk_bids, blocks, sync_ranges, tokens`),
);

const tokenPrices = (query = '', tokenId = '1', token: Address = COLLECTION) =>
  getTokenPrices(api, query, tokenId, token);
const collectionPrices = (query = '', token: Address = COLLECTION) => getCollectionPrices(api, query, token);
const seed = (...trades: SeededTrade[]): Promise<void> => seedTrades(scratch.database, eth, trades);
const cover = (dataset: string) => seedDatasetCoverage(scratch.database, eth, dataset, 0, 1_000_000);

const NOTHING = { last_sale: null, lowest_sale: null, highest_sale: null, average_sale: null, total_trades: 0 };

describe('sale prices', () => {
  test('are shown with every field', async () => {
    await seed(
      sale(3, { price: '7300000000000000' }),
      sale(2, { price: '10000000000000001', buyer: addressOf(4), seller: addressOf(5) }),
      sale(1, { price: '5000000000000000' }),
    );
    await cover('nft-trades');
    const record = (daysAgo: number, price: string, price_formatted: string) => ({
      transaction_hash: hashOf(2, blockAgo(daysAgo) * 1_000),
      block_timestamp: new Date((NOW - daysAgo * DAY) * 1000).toISOString(),
      buyer_address: daysAgo === 2 ? addressOf(4) : BUYER,
      seller_address: daysAgo === 2 ? addressOf(5) : SELLER,
      price,
      price_formatted,
      usd_price_at_sale: null,
      current_usd_value: null,
      token_id: '1',
      payment_token: {
        token_name: 'Ether',
        token_symbol: 'ETH',
        token_logo: null,
        token_decimals: '18',
        token_address: `0x${'e'.repeat(40)}`,
      },
    });
    const expected = {
      last_sale: record(1, '5000000000000000', '0.005'),
      lowest_sale: record(1, '5000000000000000', '0.005'),
      highest_sale: record(2, '10000000000000001', '0.010000000000000001'),
      average_sale: {
        price: '7433333333333333',
        price_formatted: '0.007433333333333333',
        current_usd_value: null,
      },
      total_trades: 3,
      indexed: { from_block: '0', to_block: '1000000', complete: true },
    };
    expect(await tokenPrices()).toEqual(expected);
    const withToken = (shown: object) => ({ ...shown, token_address: COLLECTION });
    expect(await collectionPrices()).toEqual({
      ...expected,
      last_sale: withToken(expected.last_sale),
      lowest_sale: withToken(expected.lowest_sale),
      highest_sale: withToken(expected.highest_sale),
    });
  });

  test('without any sale are the documented nulls with a message', async () => {
    await cover('nft-trades');
    const indexed = { from_block: '0', to_block: '1000000', complete: true };
    expect(await tokenPrices()).toEqual({
      ...NOTHING,
      message: 'No sale paid in ETH in the last 7 days',
      indexed,
    });
    expect(await collectionPrices('?days=1')).toMatchObject({
      ...NOTHING,
      message: 'No sale paid in ETH in the last 1 day',
    });
  });

  test('of a token leave the collection’s other tokens out', async () => {
    await seed(sale(1, { price: ether(1) }), sale(2, { tokenIds: ['2'], price: ether(3) }));
    expect(await tokenPrices('', '2')).toMatchObject({
      total_trades: 1,
      last_sale: { token_id: '2', price: ether(3) },
    });
    expect(await collectionPrices()).toMatchObject({
      total_trades: 2,
      last_sale: { token_id: '1' },
      highest_sale: { token_id: '2' },
      average_sale: { price: ether(2) },
    });
  });

  test('of equal prices show the earliest sale as lowest and highest, the latest as last', async () => {
    await seed(
      ...[4, 3, 3 - 60 / DAY, 1].map((daysAgo, index) => sale(daysAgo, { price: ether(5), logIndex: index })),
    );
    const block = (hash: string | undefined): number => Number(BigInt(`0x${hash?.slice(10)}`) / 1_000n);
    const { last_sale, lowest_sale, highest_sale } = await tokenPrices();
    expect([last_sale, lowest_sale, highest_sale].map((shown) => block(shown?.transaction_hash))).toEqual([
      blockAgo(1),
      blockAgo(4),
      blockAgo(4),
    ]);
  });
});

describe('the window', () => {
  test('has as many days as requested, 7 by default', async () => {
    await seed(sale(7.1, { price: ether(1) }), sale(6.9, { price: ether(2) }), sale(0.5, { price: ether(3) }));
    expect(await tokenPrices()).toMatchObject({ total_trades: 2, lowest_sale: { price: ether(2) } });
    expect(await tokenPrices('?days=8')).toMatchObject({ total_trades: 3, lowest_sale: { price: ether(1) } });
    expect(await tokenPrices('?days=1')).toMatchObject({ total_trades: 1 });
    expect(await collectionPrices('?days=6')).toMatchObject({ total_trades: 1 });
  });

  test('of 0 days is empty, of 365 a year', async () => {
    await seed(sale(0, { price: ether(1) }), sale(364.9, { price: ether(2) }), sale(365.1, { price: ether(3) }));
    expect(await tokenPrices('?days=0')).toMatchObject({
      ...NOTHING,
      message: 'No sale paid in ETH in the last 0 days',
    });
    expect(await tokenPrices('?days=365')).toMatchObject({ total_trades: 2, highest_sale: { price: ether(2) } });
  });

  test('says whether its blocks are indexed', async () => {
    await seed(sale(30), sale(9), sale(1));
    await seedDatasetCoverage(scratch.database, eth, 'nft-trades', blockAgo(10), 1_000_000);
    expect((await tokenPrices('?days=7')).indexed.complete).toBe(true);
    expect((await tokenPrices('?days=60')).indexed).toEqual({
      from_block: String(blockAgo(10)),
      to_block: '1000000',
      complete: false,
    });
  });

  test('are not complete while they are built anew', async () => {
    await seed(sale(1));
    await cover('nft-trades');
    await seedBuilt(scratch.database, eth.id, saleDays, 'building');
    expect((await tokenPrices('?days=7')).indexed.complete).toBe(false);
    await seedBuilt(scratch.database, eth.id, saleDays);
    expect((await tokenPrices('?days=7')).indexed.complete).toBe(true);
    await seedBuilt(scratch.database, eth.id, { ...saleDays, version: saleDays.version + 1 });
    expect((await tokenPrices('?days=7')).indexed.complete).toBe(false);
  });

  test('forgets what a reorg takes away', async () => {
    await seed(sale(1, { price: ether(9) }), sale(2, { price: ether(4) }));
    await scratch.database.transaction((transaction) => removeTrades(transaction, eth, [blockAgo(1)]));
    expect(await tokenPrices()).toMatchObject({ total_trades: 1, last_sale: { price: ether(4) } });
  });
});

describe('what counts', () => {
  test.each<[string, Partial<SeededTrade>]>([
    ['a bundle of two tokens', { tokenIds: ['1', '2'] }],
    ['a bundle over two collections', { collections: 2 }],
    ['a gift', { price: '0' }],
    ['a sale for another token', { paymentToken: addressOf(0xda) }],
    ['a sale for wrapped ether', { paymentToken: eth.wrappedNative }],
  ])('not %s', async (_, facts) => {
    await seed(sale(1, facts), sale(6.9, facts));
    expect(await tokenPrices()).toMatchObject(NOTHING);
    expect(await collectionPrices()).toMatchObject(NOTHING);
  });

  test('wrapped ether where it is asked for, with the facts of its contract', async () => {
    const weth = eth.wrappedNative;
    await seed(sale(1, { price: ether(1) }), sale(2, { price: ether(3), paymentToken: weth }));
    await storeToken(scratch.database, 1, weth ?? '', {
      name: 'Wrapped',
      symbol: 'wETH',
      decimals: 18,
      logo: 'https://logo.example',
      facts_status: 'known',
    });
    expect(await tokenPrices('?include_weth=true')).toMatchObject({
      total_trades: 2,
      last_sale: { payment_token: { token_symbol: 'ETH' } },
      highest_sale: {
        payment_token: {
          token_name: 'Wrapped',
          token_symbol: 'wETH',
          token_logo: 'https://logo.example',
          token_decimals: '18',
          token_address: weth,
        },
      },
    });
    expect(await tokenPrices('?include_weth=false')).toMatchObject({ total_trades: 1 });
  });

  test('bridged ether where the native currency is another, the native currency not', async () => {
    const bridged = polygon.bridgedEther;
    await seedTrades(scratch.database, polygon, [
      sale(1, { price: ether(2_000) }),
      sale(2, { price: ether(1), paymentToken: bridged }),
      sale(3, { price: ether(7), paymentToken: polygon.wrappedNative }),
    ]);
    for (const query of ['?chain=polygon', '?chain=0x89&include_weth=true'])
      expect(await tokenPrices(query)).toMatchObject({
        total_trades: 1,
        last_sale: { price: ether(1), payment_token: { token_symbol: 'WETH', token_address: bridged } },
      });
  });

  test('of several units the price of one, rounded down', async () => {
    await seed(sale(1, { amounts: ['3'], price: '10' }), sale(6.99, { amounts: ['4'], price: '11' }));
    expect(await tokenPrices()).toMatchObject({
      last_sale: { price: '3' },
      lowest_sale: { price: '2', price_formatted: '0.000000000000000002' },
      average_sale: { price: '2' },
    });
  });

  test('nothing on a chain that has no ether, or no trades here', async () => {
    const empty = { ...NOTHING, indexed: { from_block: null, to_block: null, complete: false } };
    for (const chain of ['fantom', 'sepolia', 'base'])
      expect(await tokenPrices(`?chain=${chain}`)).toMatchObject(empty);
  });

  test('accepted bids for punks, with the price of the bid', async () => {
    const punks = eth.cryptoPunks;
    if (punks === null) throw new Error('Ethereum has punks');
    const punk = { token: punks, marketplace: 'cryptopunks' };
    await seed(
      sale(1, { ...punk, price: null }),
      sale(2, { ...punk, price: ether(40) }),
      sale(6.99, { ...punk, price: null, buyer: addressOf(4) }),
    );
    expect(await tokenPrices('', '1', punks)).toMatchObject({ total_trades: 1, last_sale: { price: ether(40) } });
    for (const [daysAgo, value, bidder] of [
      [20, ether(60), addressOf(4)],
      [3, ether(50), BUYER],
    ] as const)
      await scratch.database.query(
        sql`INSERT INTO punk_bids (token_address, chain_id, token_id, block_number, transaction_index, log_index, bidder, value, entered)
         VALUES (${bytes(punks)}, 1, 1, ${blockAgo(daysAgo)}, 0, 0, ${bytes(bidder)}, ${value}, true)`,
      );
    for (const found of [await tokenPrices('', '1', punks), await collectionPrices('', punks)])
      expect(found).toMatchObject({
        total_trades: 3,
        last_sale: { price: ether(50) },
        lowest_sale: { price: ether(40) },
        highest_sale: { price: ether(60) },
        average_sale: { price: ether(50) },
      });
  });
});
