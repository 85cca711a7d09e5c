/** Profits of wallets over HTTP, with exact values: by dollars and ether, cost, coverage, windows, roles, unknown values, and refusals. */
import { feedsOf } from '@chainstead/chains/price-feeds';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { seedPools } from '@chainstead/markets/testing';
import { addressOf } from '@chainstead/testkit';
import { seedReadings } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  ANN,
  BOB,
  BOT,
  CATS,
  cats,
  DOGS,
  dollars,
  eth,
  ether,
  HEAD,
  type Json,
  profitRoutesOf,
  profitRoutesOfFile,
  seedDollars,
  seedTrades,
  USDC,
  WBTC,
  WETH,
} from './testing/profit-stage.ts';
import { readTrades, type Trade } from './trades/read-trades.ts';

const { scratch, get: request } = profitRoutesOfFile();
const get = (path: string) => request(`wallets/${path}`);

async function profitsOf(wallet: string, query = ''): Promise<readonly Json[]> {
  return (await get(`${wallet}/profitability?${query}`)).body.result as readonly Json[];
}

const isComplete = async (wallet: string, query = '') =>
  ((await get(`${wallet}/profitability?${query}`)).body.indexed as Json).complete;

describe('trades against a dollar token', () => {
  beforeEach(() =>
    seedTrades(scratch.database, [
      { block: 10, gave: dollars(20), got: cats(10) },
      { block: 11, gave: cats(4), got: dollars(12) },
    ]),
  );

  test('have exact figures', async () => {
    expect(await get(`${ANN}/profitability`)).toEqual({
      status: 200,
      body: {
        ...{ status: 'SYNCED', trades_without_value: 0 },
        indexed: { from_block: '0', to_block: String(HEAD), complete: true },
        result: [
          {
            ...{ token_address: CATS, name: 'CATS token', symbol: 'CATS', logo: null, possible_spam: false },
            ...{ decimals: '6', total_tokens_bought: '10', total_tokens_sold: '4' },
            ...{ total_usd_invested: '20', total_sold_usd: '12' },
            ...{ avg_buy_price_usd: '2', avg_sell_price_usd: '3', avg_cost_of_quantity_sold: '2' },
            ...{ realized_profit_usd: '4', realized_profit_percentage: 50 },
            ...{ count_of_trades: 2, total_buys: 1, total_sells: 1 },
          },
        ],
      },
    });
  });

  test('are added up in the summary', async () => {
    await seedDollars(scratch.database, 'ETH', 19, 2_000n);
    await seedTrades(scratch.database, [
      { block: 20, gave: dollars(2_000), got: ether(1_000) },
      { block: 21, gave: ether(500), got: dollars(999) },
    ]);
    expect(await get(`${ANN}/profitability/summary`)).toEqual({
      status: 200,
      body: {
        ...{ status: 'SYNCED', trades_without_value: 0 },
        indexed: { from_block: '0', to_block: String(HEAD), complete: true },
        ...{ total_count_of_trades: 4, total_buys: 2, total_sells: 2 },
        ...{ total_trade_volume: '3031', total_bought_volume_usd: '2020', total_sold_volume_usd: '1011' },
        // 4 of CATS, and 999 - 1000 of WETH, at a cost of 8 and 1000.
        ...{ total_realized_profit_usd: '3', total_realized_profit_percentage: 0.29761904761904762 },
      },
    });
  });

  test('disappear with a reorganization', async () => {
    for (const table of ['swaps', 'trades', 'blocks'])
      await scratch.database.query(sql`DELETE FROM ${rawSql(table)} WHERE block_number = 11`);
    expect(await profitsOf(ANN)).toMatchObject([
      { total_sells: 0, realized_profit_usd: '0', count_of_trades: 1 },
    ]);
  });
});

test('trades against ether count at its price in their block, and are none of ether', async () => {
  await seedDollars(scratch.database, 'ETH', 9, 2_000n);
  await seedDollars(scratch.database, 'ETH', 11, 4_000n);
  await seedTrades(scratch.database, [
    { block: 10, gave: ether(10), got: cats(10) },
    { block: 11, gave: cats(10), got: ether(10) },
  ]);
  expect(await profitsOf(ANN)).toMatchObject([
    { token_address: CATS, total_usd_invested: '20', total_sold_usd: '40', realized_profit_usd: '20' },
  ]);
});

test('a swap that is no trade is neither a purchase nor a sale', async () => {
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(100), got: cats(10) },
    { block: 20, gave: dollars(3), got: cats(-1) },
    { block: 30, gave: dollars(3), got: cats(0) },
    { block: 40, gave: cats(-1), got: dollars(3) },
  ]);
  expect(await profitsOf(ANN)).toMatchObject([{ total_buys: 1, total_sells: 0, total_usd_invested: '100' }]);
  expect((await get(`${ANN}/profitability/summary`)).body).toMatchObject({ total_count_of_trades: 1 });
  expect((await request(`erc20/${CATS}/top-gainers`)).body.result).toEqual([]);
});

test('a loss is negative', async () => {
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(20), got: cats(10) },
    { block: 11, gave: cats(10), got: dollars(5) },
  ]);
  expect(await profitsOf(ANN)).toMatchObject([{ realized_profit_usd: '-15', realized_profit_percentage: -75 }]);
});

test('wrapped ether counts against a dollar token only, and a dollar token never', async () => {
  await seedDollars(scratch.database, 'ETH', 9, 2_000n);
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(2_000), got: ether(1_000) },
    { block: 11, gave: ether(500), got: dollars(1_500) },
    { block: 12, gave: ether(1), got: cats(1) },
  ]);
  expect(await profitsOf(ANN)).toMatchObject([
    { token_address: WETH, total_buys: 1, total_sells: 1, total_tokens_sold: '0.5', realized_profit_usd: '500' },
    { token_address: CATS, total_buys: 1, total_sells: 0, total_usd_invested: '2', realized_profit_usd: '0' },
  ]);
});

test('a sale costs its share of what is held, in all pools', async () => {
  await seedDollars(scratch.database, 'ETH', 9, 1_000n);
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(10), got: cats(10) },
    { block: 11, gave: cats(5), got: dollars(10) },
    // 40 dollars.
    { block: 12, gave: ether(40), got: cats(10) },
    { block: 13, gave: cats(5), got: dollars(25) },
  ]);
  // The first five cost 1 each, the others 45 / 15.
  expect(await profitsOf(ANN)).toMatchObject([
    {
      ...{ total_usd_invested: '50', total_sold_usd: '35', avg_buy_price_usd: '2.5', avg_sell_price_usd: '3.5' },
      ...{ avg_cost_of_quantity_sold: '2', realized_profit_usd: '15', realized_profit_percentage: 75 },
    },
  ]);
});

test('tokens that were not bought are in neither profit nor percentage', async () => {
  await seedTrades(scratch.database, [
    { block: 10, gave: cats(5), got: dollars(50) },
    { block: 11, gave: dollars(4), got: cats(4) },
    { block: 12, gave: cats(10), got: dollars(30) },
  ]);
  // Four of the last ten were bought: 12 - 4.
  expect(await profitsOf(ANN)).toMatchObject([
    {
      ...{ total_tokens_sold: '15', total_sold_usd: '80', avg_sell_price_usd: '5.3333333333333333' },
      ...{ avg_cost_of_quantity_sold: '1', realized_profit_usd: '8', realized_profit_percentage: 200 },
    },
  ]);
});

test('a trade of two ordinary tokens is a sale of one and a purchase of the other', async () => {
  await seedDollars(scratch.database, 'WBTC', 10, 50_000n);
  await seedTrades(scratch.database, [{ block: 10, gave: [2_000n, WBTC], got: cats(4) }]);
  expect(await profitsOf(ANN)).toMatchObject([
    { token_address: CATS, total_buys: 1, total_sells: 0, total_usd_invested: '1' },
    { token_address: WBTC, total_buys: 0, total_sells: 1, total_sold_usd: '1', realized_profit_usd: '0' },
  ]);
});

test('a wallet whose retained blocks are all indexed is synced, and incomplete', async () => {
  const { database } = scratch;
  await database.query(sql`UPDATE sync_ranges SET first_block = 60 WHERE dataset = 'swaps'`);
  const stateWith = async (retainedFrom: number) => {
    const api = await exampleApi(database, profitRoutesOf(database, retainedFrom));
    const response = await api.request(`/api/v2.2/wallets/${ANN}/profitability/summary`, {
      headers: { 'x-api-key': EXAMPLE_KEY },
    });
    const { status, indexed } = (await response.json()) as Json;
    return [status, (indexed as Json).complete];
  };
  expect(await stateWith(60)).toEqual(['SYNCED', false]);
  expect(await stateWith(59)).toEqual(['SYNCING', false]);
  expect(await stateWith(0)).toEqual(['SYNCING', false]);
});

test('a trade below the indexed blocks has a value once the feeds of its block are read', async () => {
  const { database } = scratch;
  await seedTrades(database, [{ block: 50, gave: ether(1_000), got: cats(500) }]);
  await database.query(sql`UPDATE sync_ranges SET first_block = 60 WHERE dataset = 'feed-answers'`);
  const asked = () => database.query(sql`SELECT kind, question FROM state_questions ORDER BY key`);
  const summary = async () => (await get(`${ANN}/profitability/summary`)).body;
  expect(await summary()).toMatchObject({ trades_without_value: 1, indexed: { complete: false } });
  const questions = await asked();
  expect(questions).toEqual([{ kind: 'feed-readings', question: { blocks: [50] } }]);
  await database.query(sql`TRUNCATE state_questions`);
  const [one, ...others] = feedsOf(eth).map(({ proxy }) => proxy);
  await seedReadings(
    database,
    eth,
    others.map((feed) => ({
      feed,
      block: 50,
      answer: feed === eth.etherPrice.feed?.proxy ? '300000000000' : '100000000',
    })),
  );
  // One feed is missing.
  await summary();
  expect(await asked()).toEqual(questions);
  await database.query(sql`TRUNCATE state_questions`);
  await seedReadings(database, eth, [
    { feed: one ?? USDC, block: 50, answer: one === eth.etherPrice.feed?.proxy ? '300000000000' : '100000000' },
  ]);
  expect(await summary()).toMatchObject({
    ...{ trades_without_value: 0, total_bought_volume_usd: '3000', indexed: { complete: true } },
  });
  expect(await asked()).toEqual([]);
  // A reading counts in its block alone.
  await seedTrades(database, [{ block: 51, gave: ether(1_000), got: cats(500) }]);
  expect(await summary()).toMatchObject({ trades_without_value: 1 });
  expect(await asked()).toMatchObject([{ question: { blocks: [51] } }]);
});

test('a trade without a known value is left out, and the response is incomplete', async () => {
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(10), got: cats(10) },
    { block: 11, gave: cats(5), got: [10n ** 18n, DOGS] },
  ]);
  expect(await profitsOf(ANN)).toMatchObject([{ token_address: CATS, count_of_trades: 1 }]);
  expect(await isComplete(ANN)).toBe(false);
  // Both tokens of one trade.
  expect((await get(`${ANN}/profitability/summary`)).body).toMatchObject({ trades_without_value: 1 });
  expect((await get(`${ANN}/profitability?token_addresses=${WETH}`)).body).toMatchObject({
    trades_without_value: 0,
  });
  expect(await isComplete(ANN, `token_addresses=${DOGS}`)).toBe(false);
  expect(await isComplete(ANN, `token_addresses=${WETH}`)).toBe(true);
});

test('swaps of an unproven pool count once it is proven, and those of a disproved one never', async () => {
  const [open, fake] = [addressOf(0xfa1), addressOf(0xfa2)];
  await seedPools(scratch.database, eth, [
    { pool: open, tokens: [CATS, USDC], status: 'unproven' },
    { pool: fake, tokens: [CATS, USDC], status: 'disproved' },
  ]);
  await seedTrades(scratch.database, [{ block: 10, gave: dollars(10), got: cats(10), pool: fake }]);
  expect(await get(`${ANN}/profitability`)).toMatchObject({ body: { indexed: { complete: true }, result: [] } });
  await seedTrades(scratch.database, [{ block: 11, gave: dollars(10), got: cats(10), pool: open }]);
  expect(await get(`${ANN}/profitability`)).toMatchObject({ body: { indexed: { complete: false }, result: [] } });
  expect(await isComplete(ANN, `token_addresses=${DOGS}`)).toBe(true);
  await scratch.database.query(
    sql`UPDATE pools SET status = 'proven', is_counted = true WHERE status = 'unproven'`,
  );
  expect(await get(`${ANN}/profitability`)).toMatchObject({
    body: { indexed: { complete: true }, result: [{ count_of_trades: 1 }] },
  });
});

test('a wallet has the trades that it sent and those for its benefit, each once', async () => {
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(1), got: cats(1), wallet: BOT, beneficiary: ANN },
    { block: 11, gave: dollars(2), got: cats(1), wallet: ANN },
    { block: 12, gave: dollars(4), got: cats(1), wallet: ANN, beneficiary: ANN },
    { block: 13, gave: dollars(8), got: cats(1), wallet: ANN, beneficiary: BOB },
    { block: 14, gave: dollars(16), got: cats(1), wallet: BOT },
  ]);
  const investedBy = async (wallet: string) => (await profitsOf(wallet))[0]?.total_usd_invested;
  expect(await Promise.all([ANN, BOB, BOT].map(investedBy))).toEqual(['15', '8', '17']);
});

describe('a window', () => {
  /** Seven days are 50,400 blocks. */
  const OLD = 100;
  beforeEach(async () => {
    await seedDollars(scratch.database, 'USDC', 59_000, 1n);
    await seedTrades(scratch.database, [{ block: OLD, gave: dollars(10), got: cats(10) }]);
  });

  test('without purchases has the cost of the earlier ones', async () => {
    await seedTrades(scratch.database, [{ block: 60_000, gave: cats(4), got: dollars(12) }]);
    const shown = { total_tokens_bought: '0', avg_buy_price_usd: '0', avg_cost_of_quantity_sold: '1' };
    expect(await profitsOf(ANN, 'days=7')).toMatchObject([
      { ...shown, realized_profit_usd: '8', count_of_trades: 1, total_buys: 0, total_sells: 1 },
    ]);
    expect(await profitsOf(ANN, 'days=30')).toMatchObject([{ count_of_trades: 2, realized_profit_usd: '8' }]);
  });

  test('with purchases has their cost first, then that of earlier ones', async () => {
    await seedTrades(scratch.database, [
      { block: 60_000, gave: dollars(2), got: cats(1) },
      { block: 60_001, gave: cats(5), got: dollars(20) },
    ]);
    expect(await profitsOf(ANN, 'days=7')).toMatchObject([
      { total_usd_invested: '2', avg_cost_of_quantity_sold: '1.2', realized_profit_usd: '14' },
    ]);
    // 5 of 11 for 12 dollars.
    expect(await profitsOf(ANN)).toMatchObject([
      { total_usd_invested: '12', realized_profit_usd: '14.545454545454545454545455' },
    ]);
  });

  test('does not show tokens that were traded before', async () => {
    await seedTrades(scratch.database, [{ block: 60_000, gave: dollars(2), got: ether(1) }]);
    expect((await profitsOf(ANN, 'days=7')).map(({ symbol }) => symbol)).toEqual(['WETH']);
  });
});

test('tokens can be chosen, and a list without any is all', async () => {
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(1), got: cats(1) },
    { block: 11, gave: dollars(1), got: ether(1) },
  ]);
  const symbols = async (query: string) => (await profitsOf(ANN, query)).map(({ symbol }) => symbol).sort();
  expect(await symbols(`token_addresses[]=${CATS}`)).toEqual(['CATS']);
  expect(await symbols(`token_addresses=${WETH},${CATS},${DOGS}`)).toEqual(['CATS', 'WETH']);
  expect(await symbols('')).toEqual(['CATS', 'WETH']);
  const some = (count: number) => Array.from({ length: count }, (_, place) => addressOf(place + 1)).join();
  expect((await get(`${ANN}/profitability?token_addresses=${some(25)}`)).status).toBe(200);
  expect(await get(`${ANN}/profitability?token_addresses=${some(26)}`)).toEqual({
    status: 400,
    body: {
      message: 'token_addresses: at most 25 items',
      details: { errors: [{ parameter: 'token_addresses', given: `${some(26).slice(0, 120)}…` }] },
    },
  });
});

test('a chain with missing blocks is incomplete, unless those of the wallet are read on demand', async () => {
  const { database } = scratch;
  await database.query(sql`UPDATE sync_ranges SET first_block = 5 WHERE dataset = 'swaps'`);
  const missing = {
    ...{
      status: 'SYNCING',
      status_message: 'This server does not index Ethereum Mainnet',
      trades_without_value: 0,
    },
    indexed: { from_block: '5', to_block: String(HEAD), complete: false },
    result: [],
  };
  expect((await get(`${ANN}/profitability`)).body).toEqual(missing);
  expect((await get(`${ANN}/profitability/summary`)).body).toMatchObject({
    ...{ indexed: { complete: false }, total_count_of_trades: 0, total_trade_volume: '0' },
    ...{ total_realized_profit_usd: '0', total_realized_profit_percentage: 0 },
  });
  const record = (kind: string) =>
    database.query(
      sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block) VALUES (${eth.id}, ${kind}, ${hexBytes(ANN)}, 'swaps', 0, 9)`,
    );
  onTestFinished(async () => {
    await database.query(sql`TRUNCATE subject_ranges`);
  });
  // Transfers alone miss swaps that moved none of its tokens.
  await record('trader');
  expect((await get(`${ANN}/profitability`)).body).toEqual(missing);
  await record('trader-sent');
  expect((await get(`${ANN}/profitability`)).body).toEqual({
    ...{ status: 'SYNCED', trades_without_value: 0 },
    indexed: { from_block: '0', to_block: String(HEAD), complete: true },
    result: [],
  });
  expect((await get(`${BOB}/profitability`)).body).toEqual(missing);
});

const DAYS = 'all, 7, 30, 60 or 90';
const CHAIN = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';

test.each([
  [`${ANN}/profitability?days=5`, 'days', '5', DAYS],
  [`${ANN}/profitability?days=`, 'days', '', DAYS],
  [`${ANN}/profitability/summary?days=1y`, 'days', '1y', DAYS],
  [`${ANN}/profitability/summary?days=ALL`, 'days', 'ALL', DAYS],
  [`${ANN}/profitability?chain=nowhere`, 'chain', 'nowhere', CHAIN],
])('%s is refused', async (path, parameter, given, allowed) => {
  expect(await get(path)).toEqual({
    status: 400,
    body: {
      message: `${parameter} must be ${allowed}, "${given}" was given`,
      details: { errors: [{ parameter, given, allowed }] },
    },
  });
});

test('trades are the same in parts of any size', async () => {
  await seedTrades(
    scratch.database,
    Array.from({ length: 20 }, (_, place) => ({
      ...{ block: 10 + Math.floor(place / 3), gave: dollars(place + 1), got: cats(1) },
      ...(place % 3 === 0 ? { wallet: BOT, beneficiary: ANN } : {}),
    })),
  );
  const read = async (part: number) => {
    const found: Trade[] = [];
    const subject = { kind: 'wallet', wallet: ANN } as const;
    for await (const { trades } of readTrades(scratch.database, eth, {
      subject,
      firstBlock: 0,
      lastBlock: HEAD,
      part,
    }))
      found.push(...trades);
    return found;
  };
  const whole = await read(100);
  expect(whole.map(({ amount1 }) => amount1)).toEqual(
    Array.from({ length: 20 }, (_, place) => BigInt(place + 1) * 10n ** 6n),
  );
  for (const part of [1, 2, 7, 20]) expect(await read(part)).toEqual(whole);
});
