/** Facts that were wrong first and corrected later lead to the responses of facts that were right from the start. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createDueWork } from '@chainstead/jobs/worker';
import { addOutdatedCandles, createCandleSchedules } from '@chainstead/markets';
import { exchangesOf, poolKey } from '@chainstead/markets/requests';
import { cover, seedPools, seedSwaps, seedToken, swapRow } from '@chainstead/markets/testing';
import { walletProfitsReader } from '@chainstead/prices/profits';
import { addressOf, createPartitions, createScratchDatabase } from '@chainstead/testkit';
import { saveTokenMetadata } from '@chainstead/tokens';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createDatasetRoutes } from './dataset-routes.ts';
import { datasets } from './registry.ts';

const registry = createChainRegistry({ additional: [{ key: 'eth', id: 1, swaps: 'all' }] });
const eth = registry.get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const [DOLLARS, ETHER] = [addressOf(0x9a1), addressOf(0x9a2)];
const factory = exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v2')?.deployment.factory;
const FACTORY = factory === undefined ? {} : { factory };
const WALLETS = [addressOf(0xa1), addressOf(0xb1)] as const;
/** 60 hours of blocks. */
const [LAST, SETTLED] = [18_000, 17_000];

const TOKENS: readonly (readonly [Address, string, number])[] = [
  [CATS, 'CATS', 6],
  [WETH, 'WETH', 18],
  [USDC, 'USDC', 6],
];

const FIRST_DAY = 'fromDate=2020-01-01&toDate=2030-01-01&limit=1000';
const PATHS = [
  ...[DOLLARS, ETHER].flatMap((pool) => [
    ...['1min', '1h', '1d'].map(
      (timeframe) => `pairs/${pool}/ohlcv?${FIRST_DAY}&timeframe=${timeframe}&currency=usd`,
    ),
    `pairs/${pool}/ohlcv?${FIRST_DAY}&timeframe=1h&currency=native`,
    ...[`pairs/${pool}/swaps?limit=100`, `pairs/${pool}/stats`],
  ]),
  ...[CATS, WETH].flatMap((token) =>
    [
      ...['metadata?', 'swaps?limit=100&', 'pairs?', 'pairs/stats?', 'price?', 'top-gainers?days=all&'],
      ...['transfers?', 'owners?', 'holders?'],
    ].map((path) => (path === 'metadata?' ? `erc20/metadata?addresses[0]=${token}` : `erc20/${token}/${path}`)),
  ),
  ...[`tokens/${CATS}/analytics`, 'tokens/search?query=cats'],
  ...WALLETS.flatMap((wallet) => [
    ...[`wallets/${wallet}/swaps?limit=100`, `wallets/${wallet}/profitability?days=all`],
    ...[
      `wallets/${wallet}/profitability/summary?days=all`,
      `wallets/${wallet}/tokens`,
      `${wallet}/erc20/transfers`,
    ],
  ]),
];

async function openIndex() {
  const scratch = await createScratchDatabase();
  const { database } = scratch;
  await seed(database);
  const routes = createDatasetRoutes({
    ...{ database, logger: silentLogger(), chains: [eth], clock: systemClock },
    onDemand: { waitMs: 0, maxCalls: 0, perKey: 10 },
  });
  const indexed = { chains: [eth], datasets: datasets.map(({ name }) => name) };
  const api = await exampleApi(database, routes, { indexed, chains: registry });

  /** Returns the responses of all paths. Each database signs its cursors. */
  async function responses(): Promise<Readonly<Record<string, unknown>>> {
    const found: Record<string, unknown> = {};
    for (const path of PATHS) {
      const separator = path.includes('?') ? '&' : '?';
      const response = await api.request(`/api/v2.2/${path}${separator}chain=eth`, {
        headers: { 'x-api-key': EXAMPLE_KEY },
      });
      const text = await response.text();
      found[path] = [response.status, JSON.parse(text, (name, value) => (name === 'cursor' ? undefined : value))];
    }
    return found;
  }

  /** Stores what background work stores: candles, and sums of traders. */
  async function settle(): Promise<void> {
    const { signal } = new AbortController();
    for (const { run } of createCandleSchedules({ database, chains: [{ chain: eth }] })) await run(signal);
    for (const wallet of WALLETS)
      await walletProfitsReader.read({ chain: eth, database }, { wallet, days: null, tokens: null }, signal);
  }

  /** Stores facts that a worker read, and does the work that follows. */
  async function read(token: Address, symbol: string, decimals: number | null): Promise<void> {
    const facts = { name: `${symbol} token`, symbol, decimals, standard: 'erc20', answered: true } as const;
    await saveTokenMetadata(database, eth.id, new Map([[token, facts]]));
    const work = createDueWork({
      database,
      clock: systemClock,
      logger: silentLogger(),
      metrics: createMetricsRegistry(),
    });
    addOutdatedCandles(work, { database, chains: [{ chain: eth }] });
    work.start();
    await vi.waitFor(async () => expect(await database.query(sql`SELECT FROM changed_decimals`)).toEqual([]), {
      timeout: 10_000,
    });
    await work.close();
  }

  return { scratch, database, responses, settle, read };
}

async function seed(database: Database): Promise<void> {
  for (const [token, symbol, decimals] of TOKENS) await seedToken(database, eth, token, symbol, decimals);
  await database.query(
    sql`UPDATE tokens SET standard = 'erc20', total_supply = 5000000000000, supply_read_at = now(), creation_sought_at = now()`,
  );
  for (const dataset of ['swaps', 'feed-answers', 'pool-states', 'erc20-transfers'])
    await cover(database, eth, dataset, LAST);
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint, finalized) VALUES (${eth.id}, 0, 0, ${LAST}, ${SETTLED})`,
  );
  const dollars = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators[0] ?? addressOf(0);
  const ether = eth.etherPrice.feed?.aggregators[0] ?? addressOf(0);
  for (const [place, blockNumber] of [0, 6_000, 12_000, 17_900].entries())
    await seedAnswers(database, eth, [
      { aggregator: dollars, blockNumber, answer: `${10n ** 8n}` },
      { aggregator: ether, blockNumber, answer: `${BigInt(2_000 + 10 * place) * 10n ** 8n}` },
    ]);
  await seedPools(database, eth, [
    { pool: DOLLARS, tokens: [CATS, USDC], ...FACTORY },
    { pool: ETHER, tokens: [CATS, WETH], ...FACTORY },
  ]);
  const swaps = Array.from({ length: 240 }, (_, place) => {
    const [pool, token1, unit] =
      place % 2 === 0 ? ([DOLLARS, USDC, 1n] as const) : ([ETHER, WETH, 5n * 10n ** 8n] as const);
    const sign = place % 3 === 0 ? -1n : 1n;
    const amount = 1_000_000n * BigInt(place + 1);
    return swapRow(eth, {
      ...{ pool, token0: CATS, token1, blockNumber: place * 75, wallet: WALLETS[place % 5 === 0 ? 1 : 0] },
      ...{ amount0: `${sign * amount}`, amount1: `${-sign * (amount + BigInt(place % 7) * 1_000n) * unit}` },
    });
  });
  await seedSwaps(database, eth, [
    ...swaps,
    swapRow(eth, { pool: DOLLARS, token0: CATS, token1: USDC, blockNumber: LAST }),
  ]);
  for (const table of ['pool_states', 'erc20_transfer_sides']) await createPartitions(database, table, eth.id);
  for (const [pool, reserve1] of [
    [DOLLARS, 10n ** 12n],
    [ETHER, 5n * 10n ** 20n],
  ] as const)
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1) VALUES (${poolKey(pool)}, ${eth.id}, 75, 0, 1, ${hexBytes(pool)}, ${`${10n ** 12n}`}, ${`${reserve1}`})`,
    );
}

let right: Awaited<ReturnType<typeof openIndex>>;
let corrected: Awaited<ReturnType<typeof openIndex>>;

beforeAll(async () => {
  [right, corrected] = [await openIndex(), await openIndex()];
});
afterAll(async () => {
  for (const index of [right, corrected]) await index?.scratch.drop();
});

test('all responses follow from corrected decimals, as if these had been right from the start', async () => {
  await corrected.read(CATS, 'CATS', 0);
  await corrected.read(WETH, 'WETH', 9);
  for (const index of [right, corrected]) await index.settle();
  const expected = await right.responses();
  expect(
    Object.values(expected).filter((response) => Array.isArray(response) && response[0] === 200).length,
  ).toBeGreaterThan(25);
  const wrong = await corrected.responses();
  expect(wrong).not.toEqual(expected);
  await corrected.read(CATS, 'CATS', 6);
  await corrected.read(WETH, 'WETH', 18);
  // Before candles are stored again, and after it.
  expect(await corrected.responses()).toEqual(expected);
  await corrected.settle();
  expect(await corrected.responses()).toEqual(expected);
  const candles = (database: Database) =>
    database.query(
      sql`SELECT hours, start, pool, decimals0, decimals1, prices, buy_volume, sell_volume FROM pool_candles ORDER BY 1, 2, 3`,
    );
  expect(await candles(corrected.database)).toEqual(await candles(right.database));
});
