/** Prices of tokens over stored pools: fields, the time rule, refusals, and batches. Blocks are 300 seconds apart. */
import { createChainRegistry } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createMarketRoutes } from '@chainstead/markets';
import { exchangesOf } from '@chainstead/markets/requests';
import { noBackfill, seedPools, seedSwaps, seedToken, swapRow } from '@chainstead/markets/testing';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, coverBlocks, createPartitions, storeBlocks, storeToken } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { createDirectPriceReader } from '../read/prices-with-balances.ts';
import { priceRoutesOf } from '../testing/price-routes-of.ts';

const eth = createChainRegistry().get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const NATIVE = `0x${'ee'.repeat(20)}`;
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const [PAIR, OTHER, THIRD] = [addressOf(0x9a1), addressOf(0x9a2), addressOf(0x9a3)];
const ETHER_FEED = eth.etherPrice.feed;
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC));
const UNISWAP = exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v2')?.deployment.factory;
const HEAD = 400;
const SECONDS = 300;
const START = 1_700_000_000;
const timeOf = (block: number): number => START + block * SECONDS;

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

beforeEach(async () => {
  const { database } = scratch;
  await database.query(
    sql`TRUNCATE pools, pool_states, pool_creations, blocks, sync_ranges, tokens, feed_answers`,
  );
  await storeBlocks(database, eth.id, 0, HEAD, { start: START, seconds: SECONDS });
  await cover('pool-states', 0);
  await cover('feed-answers', 0);
  // A value counts for 25 hours, which are 300 blocks.
  for (const blockNumber of [1, 200]) {
    await seedAnswer(ETHER_FEED, blockNumber, '200000000000');
    await seedAnswer(DOLLAR_FEED, blockNumber, '100000000');
  }
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [WETH, 'WETH', 18],
    [USDC, 'USDC', 6],
  ] as const)
    await storeToken(database, eth.id, token, {
      name: `${symbol} token`,
      symbol,
      decimals,
      facts_status: 'known',
    });
});

async function seedAnswer(
  feed: PriceFeed | null | undefined,
  blockNumber: number,
  answer: string,
): Promise<void> {
  const [aggregator] = feed?.aggregators ?? [];
  if (aggregator === undefined) throw new RangeError('The feed has an aggregator');
  await seedAnswers(scratch.database, eth, [{ aggregator, blockNumber, answer, time: timeOf(blockNumber) }]);
}

async function cover(dataset: string, first: number): Promise<void> {
  await scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = ${dataset}`);
  await coverBlocks(scratch.database, eth.id, dataset, first, HEAD);
}

/** Stores a pool of cats and another token, with whole reserves of both by block. */
async function seedPool(
  pool: Address,
  quote: Address,
  states: readonly (readonly [block: number, cats: number, quoted: number])[],
  { status = 'proven', isStable = null }: { readonly status?: string; readonly isStable?: boolean | null } = {},
): Promise<void> {
  const { database } = scratch;
  // Cats are token 0: their address is lower than those of the others.
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_stable, is_counted, due_at)
     VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${hexBytes(pool)}, ${status}, 'Uniswap v2', ${hexBytes(UNISWAP ?? '')}, ${hexBytes(CATS)}, ${hexBytes(quote)}, ${isStable}, true, NULL)`,
  );
  await createPartitions(database, 'pool_states', eth.id);
  const decimals = quote === WETH ? 18 : 6;
  for (const [block, cats, quoted] of states)
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
       VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${block}, 0, 0, ${hexBytes(pool)}, ${cats * 1e6}, ${(BigInt(quoted * 1e6) * 10n ** BigInt(decimals - 6)).toString()})`,
    );
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function get(token: string, query = ''): Promise<Answer> {
  const response = await api.request(`/api/v2.2/erc20/${token}/price${query}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const priceOf = async (token: string, query = ''): Promise<unknown> => (await get(token, query)).body.usdPrice;

async function post(body: unknown, query = '') {
  const response = await api.request(`/api/v2.2/erc20/prices${query}`, {
    method: 'POST',
    headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as unknown };
}

describe('a swap between two tokens that are no anchors', () => {
  const DOGS = addressOf(0xd095);
  const POOL = addressOf(0x9a9);
  const BLOCK = 300;
  const swapsApi = madeForFile(() => {
    const nodeReads = createNodeReadQueue({
      database: scratch.database,
      chains: [eth],
      clock: systemClock,
      logger: silentLogger(),
    });
    const projections = createSubjectProjections(scratch.database);
    const readDirectPrices = createDirectPriceReader({
      nodeReads,
      projections,
      liveMaxAgeMs: 60_000,
    });
    return exampleApi(scratch.database, createMarketRoutes({ ...noBackfill, readDirectPrices }));
  });
  const valuesOf = async (path: string) => {
    const response = await swapsApi.request(`/api/v2.2/${path}/swaps`, { headers: { 'x-api-key': EXAMPLE_KEY } });
    const { result } = (await response.json()) as {
      readonly result: readonly Readonly<Record<string, unknown>>[];
    };
    return result.map(({ totalValueUsd }) => totalValueUsd);
  };

  beforeEach(async () => {
    const { database } = scratch;
    await database.query(sql`TRUNCATE swaps, trades`);
    await cover('swaps', 0);
    await seedToken(database, eth, DOGS, 'DOGS', 6);
    await seedPools(database, eth, [{ pool: POOL, tokens: [DOGS, CATS] }]);
    const swap = {
      pool: POOL,
      token0: DOGS,
      token1: CATS,
      amount0: `${-50n * 10n ** 6n}`,
      amount1: `${200n * 10n ** 6n}`,
    };
    await seedSwaps(
      database,
      eth,
      [BLOCK, BLOCK + 10].map((blockNumber) => swapRow(eth, { ...swap, blockNumber })),
    );
  });

  test('has the value of a token by its pools against anchors at its block, in every list, once that is known', async () => {
    const paths = [`pairs/${POOL}`, `erc20/${CATS}`, `erc20/${DOGS}`, `wallets/${addressOf(0xa11ce)}`];
    for (const path of paths) expect(await valuesOf(path)).toEqual([null, null]);
    // A cat costs 0.8 dollars, and 1.6 from the second block on.
    await seedPool(PAIR, WETH, [
      [1, 1_000_000, 400],
      [BLOCK + 1, 500_000, 400],
    ]);
    for (const path of paths) expect(await valuesOf(path)).toEqual([320, 160]);
    for (const block of [BLOCK, BLOCK + 10])
      expect([160, 320]).toContain(200 * Number(await priceOf(CATS, `?to_block=${block}`)));
  });
});

describe('the price of a token', () => {
  test('has every field, from the reserves and the ether price', async () => {
    await seedPool(PAIR, WETH, [
      [10, 1_000_000, 500],
      [300, 1_000_000, 525],
    ]);
    expect(await get(CATS)).toEqual({
      status: 200,
      body: {
        tokenName: 'CATS token',
        tokenSymbol: 'CATS',
        tokenLogo: null,
        tokenDecimals: '6',
        nativePrice: { value: '525000000000000', decimals: 18, name: 'Ether', symbol: 'ETH', address: WETH },
        usdPrice: 1.05,
        usdPriceFormatted: '1.05',
        '24hrPercentChange': '5',
        usdPrice24h: 1,
        usdPrice24hr: 1,
        usdPrice24hrUsdChange: 0.05,
        usdPrice24hrPercentChange: 5,
        exchangeAddress: UNISWAP,
        exchangeName: 'Uniswap v2',
        pairAddress: PAIR,
        pairTotalLiquidityUsd: '2100000.00',
        tokenAddress: CATS,
        priceLastChangedAtBlock: '300',
        blockTimestamp: String(timeOf(300) * 1_000),
        possibleSpam: false,
        verifiedContract: false,
        securityScore: null,
        indexed: { from_block: '0', to_block: String(HEAD), complete: true },
      },
    });
  });

  test('is that of the end of a block, whatever comes later', async () => {
    await seedPool(PAIR, USDC, [
      [10, 1_000, 1_000],
      [300, 1_000, 1_090],
    ]);
    expect(await priceOf(CATS, '?to_block=299')).toBe(1);
    const at = await get(CATS, '?to_block=300');
    expect(at.body).toMatchObject({ usdPrice: 1.09, toBlock: '300', priceLastChangedAtBlock: '300' });
  });

  test('follows a jump after ten minutes only', async () => {
    await seedPool(PAIR, USDC, [
      [10, 10_000, 10_000],
      [390, 10_000, 20_000],
    ]);
    const prices = [];
    for (const block of [389, 390, 391, 392]) prices.push(await priceOf(CATS, `?to_block=${block}`));
    expect(prices).toEqual([1, 1, 1, 2]);
    const { body } = await get(CATS, '?to_block=391&explain=true');
    expect(body.explanation).toEqual({
      ...{
        block: '391',
        time: timeOf(391),
        rule: 'median',
        price_numerator: expect.any(String),
        price_denominator: expect.any(String),
      },
      ...{ median_usd: '1', held_seconds: 300, ether_usd: '2000', anchors: expect.any(Array) },
      // √1.1 − 1 of 20,000 dollars.
      ...{ move_cost_usd: '976.18', is_move_cost_upper_bound: false },
      rules: {
        ...{ min_side_usd: 500, window_seconds: 1_800, jump_limit: 1.1, hold_seconds: 600, pools_max: 64 },
        ...{ hop_min_usd: 50_000, hop_jump_limit: 1.048808 },
      },
      hops: [],
      candidates: [
        {
          ...{
            pair_address: PAIR,
            exchange_name: 'Uniswap v2',
            role: 'chosen',
            price_usd: '2',
            weight_usd: '10000.00',
          },
          ...{ is_stable: null, bin_step: null, created_time: timeOf(10), reading_block: null },
          sides: expect.any(Array),
          states: [
            expect.objectContaining({ block: '10', reserve0: '10000000000', reserve1: '10000000000' }),
            expect.objectContaining({
              block: '390',
              time: timeOf(390),
              reserve1: '20000000000',
              liquidity: null,
            }),
          ],
        },
      ],
    });
  });

  // Invariant: PRICE-PROVEN-POOLS
  test('is the median of its pools by depth, and a shallow, an unproven and a fresh one have no say', async () => {
    await seedPool(PAIR, WETH, [[10, 100_000, 50]]);
    await seedPool(OTHER, USDC, [[10, 1_000, 400]]);
    await seedPool(addressOf(0xfa4e), USDC, [[10, 1_000, 1_000_000]], { status: 'unproven' });
    await seedPool(THIRD, USDC, [[399, 1_000_000, 5_000_000]]);
    const { body } = await get(CATS, '?explain=true');
    // The unproven pool may turn out to be the deepest one.
    expect(body).toMatchObject({ usdPrice: 1, pairAddress: PAIR, indexed: { complete: false } });
    const { candidates } = body.explanation as { candidates: { pair_address: string; role: string }[] };
    expect(candidates.map(({ pair_address, role }) => [pair_address, role])).toEqual([
      [PAIR, 'chosen'],
      [OTHER, 'too-shallow'],
      [THIRD, 'too-young'],
    ]);
  });

  test('of a stable pair follows its own curve', async () => {
    await seedPool(PAIR, USDC, [[10, 1_000_000, 2_000_000]], { isStable: true });
    // (3x²y + y³) / (x³ + 3xy²) for x = 1, y = 2 is 14/13. The reserves alone would say 2.
    expect(await priceOf(CATS)).toBeCloseTo(14 / 13, 12);
  });

  // Invariant: PRICE-NOT-GUESSED
  test('does not count ether while a block since its last answer is not indexed', async () => {
    await seedPool(PAIR, WETH, [[10, 100_000, 50]]);
    await cover('feed-answers', 205);
    expect(await get(CATS)).toMatchObject({
      status: 404,
      body: {
        message: 'No liquidity pools found for the specified token address',
        details: { reason: 'anchor-unread', retry_after_seconds: 5, indexed: { to_block: String(HEAD) } },
      },
    });
    await seedPool(OTHER, USDC, [[10, 100_000, 90_000]]);
    await seedAnswer(DOLLAR_FEED, 210, '100000000');
    // The price of ether may get known, and would then count.
    expect((await get(CATS)).status).toBe(404);
    await seedAnswer(ETHER_FEED, 211, '0');
    expect((await get(CATS)).body).toMatchObject({ usdPrice: 0.9, nativePrice: null });
  });

  test('is unknown in a gap, and does not come from a state before one', async () => {
    await seedPool(PAIR, USDC, [[10, 1_000, 1_000]]);
    await seedPool(OTHER, USDC, [[310, 1_000, 1_020]]);
    await cover('pool-states', 300);
    await coverBlocks(scratch.database, eth.id, 'pool-states', 0, 100);
    const prices = [];
    for (const block of [100, 101, 299, 300, 310, 312]) prices.push(await priceOf(CATS, `?to_block=${block}`));
    // Ten minutes of its past have to be known.
    expect(prices).toEqual([1, undefined, undefined, undefined, undefined, 1.02]);
    expect((await get(CATS)).body).toMatchObject({ usdPrice: 1.02, pairAddress: OTHER, usdPrice24h: null });
  });

  test('is not complete unless every block is indexed', async () => {
    await seedPool(PAIR, USDC, [[10, 1_000, 1_000]]);
    await cover('pool-states', 5);
    expect((await get(CATS)).body.indexed).toEqual({ from_block: '5', to_block: String(HEAD), complete: false });
  });
});

describe('a token that pools are priced with', () => {
  test('is worth the ether price, also as the native token, or one dollar', async () => {
    for (const token of [WETH, NATIVE, `0x${'00'.repeat(20)}`])
      expect((await get(token)).body).toMatchObject({
        ...{ usdPrice: 2_000, tokenAddress: WETH, pairAddress: null, exchangeName: null },
        nativePrice: { value: '1000000000000000000' },
      });
    expect((await get(USDC)).body).toMatchObject({ usdPrice: 1, nativePrice: { value: '500000000000000' } });
    await cover('feed-answers', 205);
    expect(await get(NATIVE)).toMatchObject({
      status: 404,
      body: { message: 'Could not determine native-usd price' },
    });
  });

  test('is refused with the reason of every token, also as the native token', async () => {
    await cover('feed-answers', 205);
    for (const token of [WETH, NATIVE, `0x${'00'.repeat(20)}`]) {
      const { body } = await get(token);
      expect(body).toMatchObject({
        message: 'Could not determine native-usd price',
        details: { reason: 'anchor-unread', retry_after_seconds: 5, indexed: { to_block: String(HEAD) } },
      });
    }
  });
});

describe('without a price', () => {
  const NONE = { message: 'No liquidity pools found for the specified token address' };
  test.each([
    ['', 404, { message: 'Insufficient liquidity in pools to calculate the price' }],
    ['?min_pair_side_liquidity_usd=10.5', 200, { usdPrice: 1 }],
    ['?exchange=Sushiswap%20v2&min_pair_side_liquidity_usd=0', 404, NONE],
    ['?exchange=uniswap-v2&min_pair_side_liquidity_usd=0', 200, { usdPrice: 1 }],
    ['?exchange=nowhere', 400, { message: 'exchange is not supported on this chain' }],
    ['?to_block=9&min_pair_side_liquidity_usd=0', 404, NONE],
    [`?to_block=${HEAD + 1}`, 400, { message: `to_block must be at most the newest indexed block (${HEAD})` }],
    [
      '?max_token_inactivity=1&min_pair_side_liquidity_usd=0',
      400,
      { message: 'Token is inactive: no swap within the given number of days' },
    ],
    ['?max_token_inactivity=2&min_pair_side_liquidity_usd=0', 200, { usdPrice: 1 }],
    ['?min_pair_side_liquidity_usd=-1', 400, {}],
    ['?max_token_inactivity=x', 400, {}],
    ['?include=everything', 400, {}],
  ])('%s: %i', async (query, status, body) => {
    await seedPool(PAIR, USDC, [[10, 100, 100]]);
    const answer = await get(CATS, query);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject(body);
  });

  test('a block before the pool was created has none, without a retry', async () => {
    await seedPool(PAIR, USDC, [[200, 1_000, 1_000]]);
    await scratch.database.query(
      sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, token0, token1, transaction_hash)
       VALUES (address_key(${hexBytes(PAIR)}), ${eth.id}, 200, 0, 0, ${hexBytes(PAIR)}, ${hexBytes(UNISWAP ?? '')}, ${hexBytes(CATS)}, ${hexBytes(USDC)}, ${hexBytes(`0x${'0'.repeat(64)}`)})`,
    );
    const before = await get(CATS, '?to_block=199');
    expect(before).toMatchObject({ status: 404, body: { ...NONE, details: { reason: 'no-pools' } } });
    expect(before.body.details).not.toHaveProperty('retry_after_seconds');
    const atFirst = await get(CATS, '?to_block=200');
    expect(atFirst).toMatchObject({ status: 404, body: { details: { reason: 'unsettled' } } });
    expect(atFirst.body.details).not.toHaveProperty('retry_after_seconds');
    expect(await get(CATS, '?to_block=210')).toMatchObject({ status: 200, body: { usdPrice: 1 } });
  });

  test('a pool without a state is read again near the head alone', async () => {
    await seedPool(PAIR, USDC, [[395, 1_000, 1_000]]);
    const details = async (block: number) => (await get(CATS, `?to_block=${block}`)).body.details;
    expect(await details(390)).toMatchObject({ reason: 'state-unread', retry_after_seconds: 5 });
    expect(await details(300)).toMatchObject({
      reason: 'state-unread',
      cause: 'Pools are known, but none of their states at this block. Run chainstead backfill for it',
    });
    expect(await details(300)).not.toHaveProperty('retry_after_seconds');
  });

  test('a token of unknown decimals and one without pools are not found', async () => {
    await seedPool(PAIR, USDC, [[10, 1_000, 1_000]]);
    await scratch.database.query(sql`UPDATE tokens SET decimals = NULL WHERE address = ${hexBytes(CATS)}`);
    for (const [token, reason] of [
      [CATS, 'decimals-unread'],
      [addressOf(0x404), 'no-pools'],
    ] as const)
      expect(await get(token)).toMatchObject({ status: 404, body: { ...NONE, details: { reason } } });
  });
});

describe('prices of several tokens', () => {
  test('are in the order of the request, each as often as it is wanted, without those that have none', async () => {
    await seedPool(PAIR, USDC, [
      [10, 1_000, 1_000],
      [300, 1_000, 1_050],
    ]);
    const tokens = [
      { token_address: USDC },
      { token_address: addressOf(0x404) },
      { token_address: CATS },
      { token_address: CATS.toUpperCase().replace('0X', '0x'), to_block: '299' },
      { token_address: CATS, to_block: 20, exchange: 'uniswapv2' },
    ];
    const { status, headers, body } = await post({ tokens });
    expect(status).toBe(200);
    const indexed = ['x-indexed-from-block', 'x-indexed-to-block', 'x-indexed-complete'];
    expect(indexed.map((name) => headers.get(name))).toEqual(['0', `${HEAD}`, 'true']);
    expect(
      (body as Record<string, unknown>[]).map(({ tokenSymbol, usdPrice }) => [tokenSymbol, usdPrice]),
    ).toEqual([
      ['USDC', 1],
      ['CATS', 1.05],
      ['CATS', 1],
      ['CATS', 1],
    ]);
  });

  test.each([
    [{}, 'tokens must be an array'],
    [{ tokens: [] }, 'tokens must contain at least 1 elements'],
    [{ tokens: Array(101).fill({ token_address: CATS }) }, 'tokens must contain not more than 100 elements'],
    [{ tokens: [{ token_address: '0x1' }] }, '[C0005] Invalid address provided'],
    [{ tokens: [{ token_address: CATS, to_block: 'x' }] }, 'to_block must be a block number'],
    [{ tokens: [{ token_address: CATS, exchange: 'nowhere' }] }, 'exchange is not supported on this chain'],
  ])('are refused for %j', async (body, message) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toContain(message);
  });
});
