import { type Chain, createChainRegistry } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import { exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, expect, test } from 'vitest';
import { type SeededTrade, seedDatasetCoverage, seedTrades } from '../trades/testing/seeded-trades.ts';
import { tokenSalePricesRoute } from './sale-prices-route.ts';
import { blockAgo, ether, getTokenPrices, sale } from './testing/requested-prices.ts';

const registry = createChainRegistry();
const eth = registry.get('eth');
const polygon = registry.get('polygon');
const bytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, [tokenSalePricesRoute]));
beforeEach(() =>
  scratch.database.query(
    sql`TRUNCATE nft_trades, nft_sale_days, blocks, sync_ranges, feed_answers, price_feed_phases`,
  ),
);

const seed = (...trades: SeededTrade[]): Promise<void> => seedTrades(scratch.database, eth, trades);
const cover = (dataset: string, chain: Chain = eth) =>
  seedDatasetCoverage(scratch.database, chain, dataset, 0, 1_000_000);
const aggregator = eth.etherPrice.feed?.aggregators[0] ?? addressOf(0);
const retired = eth.etherPrice.feed?.aggregators[1] ?? addressOf(0);

test('dollars are those of the last answer at or before the sale, and of the newest one', async () => {
  await cover('nft-trades');
  await cover('feed-answers');
  const block = blockAgo(2);
  await seed(sale(2, { price: ether(1_500), transactionIndex: 5, logIndex: 7 }));
  await seedAnswers(scratch.database, eth, [
    { aggregator: retired, blockNumber: block - 5, answer: '100000000000' },
    { aggregator, blockNumber: block, transactionIndex: 5, logIndex: 6, answer: '200012345678' },
    { aggregator, blockNumber: block, transactionIndex: 5, logIndex: 8, answer: '300000000000' },
    { aggregator: addressOf(0xfeed), blockNumber: block, transactionIndex: 5, logIndex: 7, answer: '7' },
    { aggregator, blockNumber: 999_999, answer: '400000000000' },
  ]);
  const found = await getTokenPrices(api);
  // 1.5 × 2000.12345678 = 3000.18518517
  expect(found.last_sale).toMatchObject({ usd_price_at_sale: '3000.19', current_usd_value: '6000.00' });
  expect(found.average_sale).toMatchObject({ current_usd_value: '6000.00' });
});

test('dollars come from an aggregator that only the proxy named, in its decimals', async () => {
  await cover('feed-answers');
  const named = addressOf(0xa66);
  await seed(sale(1, { price: ether(1_000) }));
  await seedAnswers(scratch.database, eth, [
    { aggregator, blockNumber: blockAgo(5), answer: '100000000000' },
    { aggregator: named, blockNumber: blockAgo(3), answer: '2500000000000000000000' },
  ]);
  expect((await getTokenPrices(api)).last_sale).toMatchObject({ usd_price_at_sale: '1000.00' });
  await scratch.database.query(
    sql`INSERT INTO price_feed_phases (feed, chain_id, aggregator, decimals) VALUES (${bytes(eth.etherPrice.feed?.proxy ?? '')}, 1, ${bytes(named)}, 18)`,
  );
  expect((await getTokenPrices(api)).last_sale).toMatchObject({
    usd_price_at_sale: '2500.00',
    current_usd_value: '2500.00',
  });
});

test('dollars are null where there is no answer yet, where blocks between are missing, where the answer is no price', async () => {
  await seed(sale(2, { price: ether(1_000) }));
  await seedAnswers(scratch.database, eth, [{ aggregator, blockNumber: blockAgo(1), answer: '200000000000' }]);
  await seedDatasetCoverage(scratch.database, eth, 'feed-answers', 0, blockAgo(3));
  await seedDatasetCoverage(scratch.database, eth, 'feed-answers', blockAgo(3) + 2, 1_000_000);
  expect((await getTokenPrices(api)).last_sale).toMatchObject({
    usd_price_at_sale: null,
    current_usd_value: '2000.00',
  });
  await seedAnswers(scratch.database, eth, [{ aggregator, blockNumber: blockAgo(4), answer: '100000000000' }]);
  expect((await getTokenPrices(api)).last_sale).toMatchObject({ usd_price_at_sale: null });
  await seedDatasetCoverage(scratch.database, eth, 'feed-answers', blockAgo(3) + 1, blockAgo(3) + 1);
  expect((await getTokenPrices(api)).last_sale).toMatchObject({ usd_price_at_sale: '1000.00' });
  await seedAnswers(scratch.database, eth, [{ aggregator, blockNumber: blockAgo(2), answer: '-5' }]);
  expect((await getTokenPrices(api)).last_sale).toMatchObject({
    usd_price_at_sale: null,
    current_usd_value: '2000.00',
  });
});

test('dollars of another chain come from that chain’s feed', async () => {
  await cover('feed-answers', polygon);
  await seedTrades(scratch.database, polygon, [
    sale(1, { price: ether(2_000), paymentToken: polygon.bridgedEther }),
  ]);
  await seedAnswers(scratch.database, polygon, [
    {
      aggregator: polygon.etherPrice.feed?.aggregators[0] ?? addressOf(0),
      blockNumber: blockAgo(2),
      answer: '123456789012',
    },
  ]);
  expect((await getTokenPrices(api, '?chain=polygon')).last_sale).toMatchObject({ usd_price_at_sale: '2469.14' });
});
