import type { Address } from '@chainstead/core';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import {
  addressOf,
  createScratchDatabase,
  hashOf,
  type Moralis,
  type ScratchDatabase,
  startOfficialSdk,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectionSalePricesRoute, tokenSalePricesRoute } from '../sale-prices/sale-prices-route.ts';
import { eth } from './testing/asked-trades.ts';
import { BUYER, COLLECTION, SEAPORT, SELLER, type SeededTrade, seedTrades } from './testing/seeded-trades.ts';
import { collectionTradesRoute, tokenTradesRoute, walletTradesRoute } from './trades-route.ts';

const NOW = Math.floor(Date.now() / 1000);
const SALES = 11;
const WETH = addressOf(0x2e);
const EMPTY: Address = addressOf(0xe3);

let scratch: ScratchDatabase;
let server: ApiServer;
let EvmApi: Moralis['EvmApi'];

beforeAll(async () => {
  scratch = await createScratchDatabase();
  const api = await exampleApi(scratch.database, [
    tokenTradesRoute,
    collectionTradesRoute,
    walletTradesRoute,
    tokenSalePricesRoute,
    collectionSalePricesRoute,
  ]);
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  const sales = Array.from(
    { length: SALES },
    (_, index): SeededTrade => ({
      blockNumber: 100 + index,
      timestamp: NOW - (SALES - index) * 3_600,
      price: ((BigInt(index) + 1n) * 10n ** 16n).toString(),
    }),
  );
  await seedTrades(scratch.database, eth, [
    ...sales,
    { blockNumber: 50, timestamp: NOW - 90 * 86_400, tokenIds: ['7', '8'], paymentToken: WETH, marketplace: 'blur' },
  ]);
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
  await scratch.drop();
});

describe('the official SDK', () => {
  test('reads a collection’s trades to the end', async () => {
    let page = await EvmApi.nft.getNFTTrades({ address: COLLECTION, chain: '0x1', limit: 4 });
    const blocks: string[] = [];
    for (;;) {
      blocks.push(...page.result.map((row) => row.blockNumber.toString()));
      if (!page.hasNext()) break;
      page = await page.next();
    }
    expect(blocks).toEqual(Array.from({ length: SALES }, (_, index) => String(100 + SALES - 1 - index)));
  });

  test('deserialises a trade', async () => {
    const { result } = await EvmApi.nft.getNFTTrades({
      address: COLLECTION,
      chain: '0x1',
      marketplace: 'blur',
    });
    expect(result).toHaveLength(1);
    const [trade] = result;
    expect([trade?.transactionHash, trade?.tokenIds, trade?.blockNumber.toString(), trade?.price.toString()]).toEqual([
      hashOf(2, 50_000),
      ['7', '8'],
      '50',
      (10n ** 18n).toString(),
    ]);
    const lower = (address: unknown): string => String(Object(address).lowercase ?? address).toLowerCase();
    expect(
      [trade?.sellerAddress, trade?.buyerAddress, trade?.tokenAddress, trade?.marketplaceAddress].map(lower),
    ).toEqual([SELLER, BUYER, COLLECTION, SEAPORT]);
  });

  test('bounds trades by dates and blocks', async () => {
    const fromDate = new Date((NOW - 2.5 * 3_600) * 1000);
    const { result } = await EvmApi.nft.getNFTTrades({ address: COLLECTION, chain: '0x1', fromDate });
    expect(result.map((row) => row.blockNumber.toString())).toEqual(['110', '109']);
    const between = await EvmApi.nft.getNFTTrades({
      address: COLLECTION,
      chain: '0x1',
      fromBlock: 103,
      toBlock: 104,
    });
    expect(between.result.map((row) => row.blockNumber.toString())).toEqual(['104', '103']);
  });

  test('reads a token’s sale prices', async () => {
    const { result } = await EvmApi.nft.getNFTSalePrices({
      address: COLLECTION,
      tokenId: '1',
      chain: '0x1',
      days: 30,
    });
    const { lastSale, lowestSale, highestSale, averageSale, totalTrades } = result;
    expect([lastSale.price, lastSale.priceFormatted, lastSale.tokenId, lastSale.paymentToken.tokenSymbol]).toEqual([
      '110000000000000000',
      '0.11',
      '1',
      'ETH',
    ]);
    expect([lowestSale.price, highestSale.price, averageSale.price, averageSale.priceFormatted, totalTrades]).toEqual([
      '10000000000000000',
      '110000000000000000',
      '60000000000000000',
      '0.06',
      SALES,
    ]);
  });

  test('reads a collection’s sale prices', async () => {
    const { result } = await EvmApi.nft.getNFTContractSalePrices({ address: COLLECTION, chain: '0x1' });
    expect([result.totalTrades, result.lowestSale.price]).toEqual([SALES, '10000000000000000']);
  });

  test('refuses the documented nulls of a token without sales, by its own types', async () => {
    await expect(EvmApi.nft.getNFTSalePrices({ address: EMPTY, tokenId: '1', chain: '0x1' })).rejects.toThrow(/null/);
  });

  test('is told of its mistakes', async () => {
    await expect(
      EvmApi.nft.getNFTSalePrices({ address: COLLECTION, tokenId: '1', chain: '0x1', days: 366 }),
    ).rejects.toThrow(/400.*days must be a whole number from 0 to 365/);
  });
});
