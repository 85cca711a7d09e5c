/** Anchors with feeds: stale, zero and missing values, a dollar off its peg, and native tokens that are not ether. Blocks are an hour apart. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, decimalFraction, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { exchangesOf } from '@chainstead/markets/requests';
import {
  addressOf,
  coverBlocks,
  createPartitions,
  exampleChain,
  storeBlocks,
  storeToken,
} from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedPriceSources } from '@chainstead/tokens/price-feeds';
import { seedReadings } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { priceRoutesOf } from '../testing/price-routes-of.ts';
import { type AnchorPrice, anchorPrices, readAnchorPrices } from './anchor-prices.ts';

const registry = createChainRegistry();
const polygon = registry.get('polygon');
const [USDC, USDCE, USDT, WETH, WPOL, WBTC] = [
  parseAddress('0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'),
  parseAddress('0x2791bca1f2de4661ed88a30c99a7a9449aa84174'),
  parseAddress('0xc2132d05d31c914a87c6611c10748aeb04b58e8f'),
  parseAddress('0x7ceb23fd6bc0add59e62ac25578270cff1b9f619'),
  parseAddress('0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'),
  parseAddress('0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6'),
];
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const PAIR = addressOf(0x9a1);
const FACTORY = exchangesOf(polygon).all.find(({ exchange }) => exchange.family.name === 'v2')?.deployment
  .factory;
const HEAD = 100;
const START = 1_700_000_000;
const timeOf = (block: number): number => START + block * 3_600;

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, polygon)));

beforeEach(async () => {
  const { database } = scratch;
  await database.query(
    sql`TRUNCATE pools, pool_states, blocks, sync_ranges, tokens, feed_answers, feed_readings, price_feed_phases`,
  );
  await storeBlocks(database, polygon.id, 0, HEAD, { start: START, seconds: 3600 });
  for (const dataset of ['pool-states', 'feed-answers'])
    await coverBlocks(database, polygon.id, dataset, 0, HEAD);
});

const feedOf = (token: Address, chain: Chain = polygon) =>
  token === WETH ? chain.etherPrice.feed : chain.tokenFeeds.find(({ tokens }) => tokens.includes(token));

/** Stores a value of a token's feed, of an aggregator that the proxy named if none is known. */
async function store(token: Address, block: number, dollars: number): Promise<Address> {
  const feed = feedOf(token);
  if (feed === undefined || feed === null) throw new RangeError('The token has a feed');
  const aggregator = feed.aggregators[0] ?? addressOf(Number(BigInt(feed.proxy) % 2n ** 32n));
  await scratch.database.query(
    sql`INSERT INTO price_feed_phases (feed, chain_id, aggregator, decimals) VALUES (${hexBytes(feed.proxy)}, ${polygon.id}, ${hexBytes(aggregator)}, 8) ON CONFLICT DO NOTHING`,
  );
  await scratch.database.query(
    sql`INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, updated_at)
     VALUES (${hexBytes(aggregator)}, ${polygon.id}, ${block}, 4, 5, 1, ${Math.round(dollars * 1e8)}, to_timestamp(${timeOf(block)}::float8))`,
  );
  return aggregator;
}

async function pricesAt(block: number, chain: Chain = polygon): Promise<Record<string, number>> {
  const found = await readAnchorPrices(scratch.database, chain, { block, time: timeOf(block) });
  return Object.fromEntries(
    [...anchorPrices(found)].map(([token, usd]) => [token, Number(decimalFraction(usd, 17))]),
  );
}

const get = async (token: Address, block: number) => {
  const path = `/api/v2.2/erc20/${token}/price?chain=polygon&explain=true&to_block=${block}`;
  const response = await api.request(path, { headers: { 'x-api-key': EXAMPLE_KEY } });
  const { usdPrice, explanation } = (await response.json()) as {
    readonly usdPrice?: number;
    readonly explanation?: { readonly anchors: readonly Record<string, unknown>[] };
  };
  return { status: response.status, usdPrice, anchors: explanation?.anchors ?? [] };
};

function proxyOf(token: Address): Address {
  const feed = feedOf(token);
  if (feed === undefined || feed === null) throw new RangeError('The token has a feed');
  return feed.proxy;
}

describe('an anchor', () => {
  test('is worth the last value of its feed: dollars, bitcoin, ether, and native tokens that are not ether', async () => {
    await store(USDC, 50, 0.9998);
    await store(USDT, 50, 1.0002);
    await store(WBTC, 50, 60_000);
    await store(WETH, 50, 3_000);
    await store(ZERO_ADDRESS, 50, 0.45);
    await store(ZERO_ADDRESS, 51, 0.44);
    expect(await pricesAt(50)).toMatchObject({
      ...{ [USDC]: 0.9998, [USDCE]: 0.9998, [USDT]: 1.0002, [WBTC]: 60_000, [WETH]: 3_000 },
      ...{ [ZERO_ADDRESS]: 0.45, [WPOL]: 0.45 },
    });
    expect(await pricesAt(51)).toMatchObject({ [WPOL]: 0.44 });
  });

  test('is none once the value is older than its heartbeat, or zero', async () => {
    for (const token of [USDC, WETH, ZERO_ADDRESS]) await store(token, 50, 2);
    expect(await pricesAt(75)).toMatchObject({ [USDC]: 2, [WETH]: 2, [WPOL]: 2 });
    const stale = await pricesAt(76);
    for (const token of [USDC, USDCE, WETH, WPOL, ZERO_ADDRESS]) expect(stale[token]).toBeUndefined();
    await store(WETH, 60, 0);
    expect((await pricesAt(61))[WETH]).toBeUndefined();
  });

  test('that is a dollar token is worth 1 if it has no feed, or there is no contract at the address of the feed', async () => {
    const own = exampleChain({ id: 424_242, dollarTokens: [addressOf(7)] });
    expect(await pricesAt(26, own)).toEqual({ [addressOf(7)]: 1 });
    expect(await pricesAt(26)).toEqual({});
    await store(ZERO_ADDRESS, 50, 0.45);
    for (const token of [USDT, WBTC])
      await seedReadings(scratch.database, polygon, [{ feed: proxyOf(token), block: 50, status: 'absent' }]);
    const found = await pricesAt(51);
    expect([USDC, USDT, WBTC].map((token) => found[token])).toEqual([undefined, 1, undefined]);
  });

  test('is worth what its feed returned at a block, and explains the reading', async () => {
    const proxy = proxyOf(USDC);
    const [round, aggregator] = ['39', addressOf(0xa66)];
    const reading = { feed: proxy, block: 50, aggregator, round, answer: '99980000', time: timeOf(49) };
    await seedReadings(scratch.database, polygon, [reading]);
    const { anchors } = await readAnchorPrices(scratch.database, polygon, { block: 60, time: timeOf(60) });
    expect(anchors.find(({ token }) => token === USDCE)).toEqual({
      token: USDCE,
      usd: { numerator: 99_980_000n, denominator: 10n ** 8n },
      source: { of: 'feed', proxy, aggregator, round, block: 50, log: null },
    });
    expect((await get(USDC, 60)).anchors.find(({ token_address }) => token_address === USDC)).toMatchObject({
      ...{ price_usd: '0.9998', source: 'feed', feed: proxy, aggregator, round, block: '50' },
      ...{ transaction_index: null, log_index: null },
    });
    expect((await pricesAt(49))[USDC]).toBeUndefined();
    expect([(await pricesAt(74))[USDC], (await pricesAt(75))[USDC]]).toEqual([0.9998, undefined]);
  });

  test('of ether comes from a pool on a chain without a feed', async () => {
    const pools = [
      { address: addressOf(9), protocol: 'uniswap-v3', etherIs: 'token0', dollarDecimals: 18 },
    ] as const;
    const own = exampleChain({ id: 137, etherPrice: { feed: null, pools } });
    await seedPriceSources(scratch.database, own);
    await coverBlocks(scratch.database, 137, 'pool-prices', 0, HEAD);
    await scratch.database.query(
      sql`INSERT INTO pool_prices (pool, chain_id, block_number, transaction_index, log_index, sqrt_price_x96, block_timestamp)
       VALUES (${hexBytes(addressOf(9))}, 137, 10, 0, 0, ${(50n * 2n ** 96n).toString()}, now())`,
    );
    const { anchors, ether } = await readAnchorPrices(scratch.database, own, { block: 11, time: timeOf(11) });
    expect(anchors.filter(({ source }) => source.of === 'pool')).toHaveLength(3);
    expect(ether).not.toBeNull();
  });
});

describe('the price of a token', () => {
  /** A pool of a million cats and as many dollars. */
  async function seedPool(quote: Address): Promise<void> {
    const { database } = scratch;
    for (const token of [CATS, quote])
      await storeToken(database, polygon.id, token, {
        name: 'T',
        symbol: 'T',
        decimals: 6,
        facts_status: 'known',
      });
    await database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
       VALUES (address_key(${hexBytes(PAIR)}), ${polygon.id}, ${hexBytes(PAIR)}, 'proven', 'QuickSwap', ${hexBytes(FACTORY ?? '')}, ${hexBytes(CATS)}, ${hexBytes(quote)}, true, NULL)`,
    );
    await createPartitions(database, 'pool_states', polygon.id);
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
       VALUES (address_key(${hexBytes(PAIR)}), ${polygon.id}, 10, 0, 0, ${hexBytes(PAIR)}, 1000000000000, 1000000000000)`,
    );
  }

  test('falls with a dollar that loses its peg, and explains the value of the feed', async () => {
    await seedPool(USDC);
    await store(USDC, 50, 1);
    const aggregator = await store(USDC, 60, 0.88);
    expect((await get(CATS, 59)).usdPrice).toBe(1);
    const { usdPrice, anchors } = await get(CATS, 60);
    expect(usdPrice).toBe(0.88);
    expect((await get(USDC, 60)).usdPrice).toBe(0.88);
    expect(anchors.find(({ token_address }) => token_address === USDC)).toEqual({
      ...{ token_address: USDC, price_usd: '0.88', source: 'feed', feed: feedOf(USDC)?.proxy, aggregator },
      ...{
        price_numerator: '88000000',
        price_denominator: '100000000',
        round: '1',
        block: '60',
        transaction_index: 4,
        log_index: 5,
      },
    });
    expect(anchors.find(({ token_address }) => token_address === USDT)).toBeUndefined();
    await seedReadings(scratch.database, polygon, [{ feed: proxyOf(USDT), block: 55, status: 'absent' }]);
    expect((await get(CATS, 60)).anchors.find(({ token_address }) => token_address === USDT)).toMatchObject({
      ...{
        price_usd: '1',
        source: 'assumed',
        feed: null,
        aggregator: null,
        round: null,
        block: null,
        log_index: null,
      },
    });
  });

  test('is unknown with a stale dollar, and so is the price of the dollar itself', async () => {
    await seedPool(USDC);
    await store(USDC, 50, 1);
    expect((await get(CATS, 75)).usdPrice).toBe(1);
    for (const token of [CATS, USDC]) expect(await get(token, 76)).toMatchObject({ status: 404 });
  });
});

test('every anchor price has one source', async () => {
  await store(USDC, 50, 1);
  await seedReadings(scratch.database, polygon, [{ feed: proxyOf(USDT), block: 49, status: 'absent' }]);
  const { anchors } = await readAnchorPrices(scratch.database, polygon, { block: 50, time: timeOf(50) });
  const sourceOf = (token: Address): AnchorPrice['source']['of'] | undefined =>
    anchors.find((anchor) => anchor.token === token)?.source.of;
  expect([USDC, USDT, WETH].map(sourceOf)).toEqual(['feed', 'assumed', undefined]);
  expect(new Set(anchors.map(({ token }) => token)).size).toBe(anchors.length);
});
