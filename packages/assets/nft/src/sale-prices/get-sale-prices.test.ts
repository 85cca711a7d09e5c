import type { EtherPool } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import { addressOf, exampleChain, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { dollarsOf } from '@chainstead/tokens/price-feeds/quotes';
import { beforeEach, expect, test } from 'vitest';
import { COLLECTION, seedDatasetCoverage, seedTrades } from '../trades/testing/seeded-trades.ts';
import { getSalePrices, type SalePrices } from './get-sale-prices.ts';

const trusted: EtherPool = {
  address: addressOf(1),
  protocol: 'uniswap-v3',
  etherIs: 'token0',
  dollarDecimals: 18,
};
const other: EtherPool = { address: addressOf(2), protocol: 'uniswap-v3', etherIs: 'token1', dollarDecimals: 6 };
const chain = exampleChain({ etherPrice: { feed: null, pools: [trusted, other] } });
const ETHER = (10n ** 18n).toString();
const Q96 = 2n ** 96n;

const scratch = scratchOfFile();
beforeEach(() =>
  scratch.database
    .query(sql`TRUNCATE nft_trades, nft_sale_days, blocks, sync_ranges, pool_prices`)
    .then(() => undefined),
);

async function addSwap(pool: EtherPool, blockNumber: number, sqrtPriceX96: bigint, logIndex = 0): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO pool_prices (pool, chain_id, block_number, transaction_index, log_index, sqrt_price_x96, block_timestamp) VALUES (${Buffer.from(pool.address.slice(2), 'hex')}, 1, ${blockNumber}, 0, ${logIndex}, ${sqrtPriceX96.toString()}, now())`,
  );
}

/** Unix seconds. */
const NOW = timestampOf(1_000);

function read(of = chain, tokenId: string | null = '1'): Promise<SalePrices> {
  const query = { token: COLLECTION, tokenId, days: 7, now: new Date(NOW * 1000), includeWrapped: false };
  return getSalePrices(scratch.database, of, query);
}

async function dollarsAtSale(): Promise<string | null> {
  const { sales } = await read();
  return sales === null || sales.last.etherPrice === null ? null : dollarsOf(ETHER, sales.last.etherPrice);
}

test.each(['1', null])('the window begins to the second, within a day (token %s)', async (tokenId) => {
  const edge = NOW - 7 * 86_400;
  await seedTrades(scratch.database, chain, [
    { blockNumber: 1, timestamp: edge - 1, price: '1' },
    { blockNumber: 2, timestamp: edge, price: '2' },
    { blockNumber: 3, timestamp: NOW - 1, price: '3' },
  ]);
  expect(await read(chain, tokenId)).toMatchObject({ sales: { count: 2, lowest: { price: '2' } } });
});

test('without a feed the most trusted pool that had a swap tells the price', async () => {
  await seedTrades(scratch.database, chain, [{ blockNumber: 500, logIndex: 5 }]);
  await seedDatasetCoverage(scratch.database, chain, 'pool-prices', 0, 1_000);
  expect(await dollarsAtSale()).toBeNull();
  await addSwap(trusted, 500, 50n * Q96, 6);
  expect(await dollarsAtSale()).toBeNull();
  await addSwap(other, 499, 20_000n * Q96);
  await addSwap(other, 400, 10_000n * Q96);
  expect(await dollarsAtSale()).toBe('2500.00');
  await addSwap(trusted, 100, 40n * Q96);
  expect(await dollarsAtSale()).toBe('1600.00');
  const { etherPrice } = await read();
  expect(etherPrice && dollarsOf(ETHER, etherPrice)).toBe('2500.00');
});

test('a feed that has said nothing is not replaced by a pool', async () => {
  const withFeed = exampleChain({
    etherPrice: { feed: { proxy: addressOf(9), decimals: 8, aggregators: [addressOf(8)] }, pools: [trusted] },
  });
  await seedTrades(scratch.database, chain, [{ blockNumber: 500 }]);
  await seedDatasetCoverage(scratch.database, chain, 'pool-prices', 0, 1_000);
  await addSwap(trusted, 100, 40n * Q96);
  expect(await read(withFeed)).toMatchObject({ etherPrice: null, sales: { last: { etherPrice: null } } });
});

test('a chain without any source has no price in dollars', async () => {
  await seedTrades(scratch.database, chain, [{ blockNumber: 500 }]);
  expect(await read(exampleChain())).toMatchObject({
    etherPrice: null,
    sales: { count: 1, last: { etherPrice: null } },
  });
});
