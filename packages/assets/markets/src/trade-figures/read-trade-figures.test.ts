/** Figures of trades: sides, spans, values, traders, and swaps that don't count. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { addressOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeAll, expect, test } from 'vitest';
import { cover, seedPools, seedSwaps, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import type { SwapRow } from '../tables/schema.ts';
import { DOLLAR, type FiguredPool } from '../trade-values/candle.ts';
import { type FigureLimits, readTradeFigures } from './read-trade-figures.ts';
import { sumTradeFigures, tradeFiguresReader } from './summed-figures.ts';
import { NO_TRADES } from './trade-sums.ts';

const eth = createChainRegistry().get('eth');
const [WETH, USDC, CATS, DOGS] = [
  parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'),
  parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'),
  parseAddress(`0x${'11'.repeat(20)}`),
  parseAddress(`0x${'12'.repeat(20)}`),
];
const [IN_DOLLARS, IN_ETHER, UNPRICED] = [addressOf(0x9a1), addressOf(0x9a2), addressOf(0x9a3)];
const [ANN, BEN] = [addressOf(0xa1), addressOf(0xb1)];
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators[0] ?? addressOf(0);
const FEED = eth.etherPrice.feed?.aggregators[0] ?? addressOf(0);
const CAT = 10n ** 6n;

const POOLS: readonly FiguredPool[] = [
  { pool: IN_DOLLARS, token0: CATS, token1: USDC, decimals: [6, 6] },
  { pool: IN_ETHER, token0: CATS, token1: WETH, decimals: [6, 18] },
  { pool: UNPRICED, token0: CATS, token1: DOGS, decimals: [6, 18] },
];
const scratch = scratchOfFile();

const alone = (pool: FiguredPool) => ({ key: pool.pool, pools: [{ pool, isReversed: false }] });

/** A trade of CATS: positive cats are bought. */
function trade(blockNumber: number, pool: FiguredPool, cats: bigint, paid: bigint, more: Partial<SwapRow> = {}) {
  const { token0, token1 } = pool;
  return swapRow(eth, {
    ...{ pool: pool.pool, token0, token1, blockNumber, amount0: `${-cats}`, amount1: `${paid}`, wallet: ANN },
    ...more,
  });
}

beforeAll(async () => {
  const { database } = scratch;
  const [dollars, ether, unpriced] = POOLS as [FiguredPool, FiguredPool, FiguredPool];
  await cover(database, eth, 'swaps', 1_000);
  await cover(database, eth, 'feed-answers', 15);
  await seedAnswers(database, eth, [
    { aggregator: DOLLAR_FEED, blockNumber: 0, answer: `${10n ** 8n}` },
    { aggregator: FEED, blockNumber: 0, answer: `${2_000n * 10n ** 8n}` },
  ]);
  await seedPools(
    database,
    eth,
    POOLS.map(({ pool, token0, token1 }) => ({ pool, tokens: [token0, token1] })),
  );
  await seedSwaps(database, eth, [
    trade(10, dollars, 2n * CAT, 3_000_000n),
    trade(10, dollars, CAT, 1_500_000n, { logIndex: 1, wallet: BEN }),
    trade(11, dollars, CAT, 1_000_000n, { wallet: ANN }),
    trade(12, dollars, -CAT, -750_000n, { wallet: BEN }),
    // A change of liquidity, and a swap without amounts.
    trade(12, dollars, CAT, CAT, { logIndex: 1, kind: 1 }),
    trade(12, dollars, CAT, CAT, { logIndex: 2, amount0: null }),
    trade(11, ether, CAT, 10n ** 16n),
    // The price of ether and dollars is unknown there.
    trade(20, ether, -CAT, -(10n ** 16n), { wallet: BEN }),
    trade(11, unpriced, CAT, 5n, { wallet: BEN }),
  ]);
});

test('each pool has its figures in each span', async () => {
  const at = timestampOf;
  const spans = [
    { from: at(0), to: at(1_000) },
    { from: at(11), to: at(12) },
    { from: at(12), to: at(20) },
    { from: at(500), to: at(900) },
  ];
  const figures = await readTradeFigures(scratch.database, eth, {
    groups: POOLS.map(alone),
    spans,
    lastBlock: 1_000,
  });
  expect(figures.get(IN_DOLLARS)).toEqual([
    {
      ...{ buys: 3, sells: 1, buyVolume: (11n * DOLLAR) / 2n, sellVolume: (3n * DOLLAR) / 4n },
      ...{ buyers: 2, sellers: 1, wallets: 2 },
    },
    { ...NO_TRADES, buys: 1, buyVolume: DOLLAR, buyers: 1, wallets: 1 },
    { ...NO_TRADES, sells: 1, sellVolume: (3n * DOLLAR) / 4n, sellers: 1, wallets: 1 },
    NO_TRADES,
  ]);
  expect(figures.get(IN_ETHER)).toEqual([
    {
      ...{ buys: 1, sells: 1, buyVolume: 20n * DOLLAR, sellVolume: null },
      ...{ buyers: 1, sellers: 1, wallets: 2 },
    },
    { ...NO_TRADES, buys: 1, buyVolume: 20n * DOLLAR, buyers: 1, wallets: 1 },
    NO_TRADES,
    NO_TRADES,
  ]);
  // Neither token has a price.
  expect(figures.get(UNPRICED)?.[0]).toEqual({ ...NO_TRADES, buys: 1, buyVolume: null, buyers: 1, wallets: 1 });
});

test('swaps after the last block, and other pools, do not count', async () => {
  const spans = [{ from: timestampOf(0), to: timestampOf(1_000) }];
  const figures = await readTradeFigures(scratch.database, eth, {
    ...{ groups: POOLS.slice(0, 2).map(alone), spans, lastBlock: 10 },
  });
  expect([...figures.keys()]).toEqual([IN_DOLLARS, IN_ETHER]);
  expect(figures.get(IN_DOLLARS)?.[0]).toMatchObject({ buys: 2, sells: 0, buyVolume: (9n * DOLLAR) / 2n });
  expect(figures.get(IN_ETHER)).toEqual([NO_TRADES]);
  expect(await readTradeFigures(scratch.database, eth, { groups: [], spans, lastBlock: 10 })).toEqual(new Map());
});

test('a pool whose quote token has unknown decimals has no volume', async () => {
  const [dollars] = POOLS as [FiguredPool];
  const spans = [{ from: timestampOf(0), to: timestampOf(1_000) }];
  const figures = await readTradeFigures(scratch.database, eth, {
    ...{ spans, lastBlock: 1_000 },
    groups: [alone({ ...dollars, decimals: [6, null] })],
  });
  expect(figures.get(IN_DOLLARS)?.[0]).toMatchObject({ buys: 3, sells: 1, buyVolume: null, sellVolume: null });
});

test('a group joins its pools, and a trader of two pools counts once', async () => {
  const [dollars, ether] = POOLS as [FiguredPool, FiguredPool];
  const spans = [{ from: timestampOf(0), to: timestampOf(15) }];
  const pools = [
    { pool: dollars, isReversed: false },
    { pool: ether, isReversed: true },
  ];
  const figures = await readTradeFigures(scratch.database, eth, {
    ...{ groups: [{ key: 'cats', pools }], spans, lastBlock: 1_000 },
  });
  expect(figures.get('cats')).toEqual([
    {
      ...{ buys: 3, sells: 2, buyVolume: (11n * DOLLAR) / 2n, sellVolume: (83n * DOLLAR) / 4n },
      ...{ buyers: 2, sellers: 2, wallets: 2 },
    },
  ]);
});

test('figures are equal in parts of any size, and are refused above the limit of swaps', async () => {
  const query = {
    groups: POOLS.map(alone),
    spans: [{ from: timestampOf(0), to: timestampOf(1_000) }],
    lastBlock: 1_000,
  };
  const read = (limits: Partial<FigureLimits>) =>
    readTradeFigures(scratch.database, eth, query, { swapsMax: 7, part: 5_000, tradersMax: 2, ...limits });
  const whole = await read({});
  for (const part of [1, 2, 3]) expect(await read({ part })).toEqual(whole);
  await expect(read({ swapsMax: 6 })).rejects.toMatchObject({
    ...{ code: 'SWAPS_NOT_SUMMED', status: 503, retryable: true, headers: { 'retry-after': '5' } },
  });
});

test('traders are not counted above their limit', async () => {
  const query = {
    groups: [alone(POOLS[0] as FiguredPool)],
    spans: [{ from: timestampOf(0), to: timestampOf(1_000) }],
    lastBlock: 1_000,
  };
  const limits = { swapsMax: 100, part: 5_000, tradersMax: 1 };
  const [sums] = (await readTradeFigures(scratch.database, eth, query, limits)).get(IN_DOLLARS) ?? [];
  expect(sums).toMatchObject({ buys: 3, sells: 1, buyers: null, sellers: null, wallets: null });
});

test('figures of more swaps than a request reads come from a worker, until the last five minutes', async () => {
  const { database } = scratch;
  const nodeReads = createNodeReadQueue({ database, chains: [eth], clock: systemClock, logger: silentLogger() });
  // Between blocks 16 and 17.
  const [time, start] = [timestampOf(26), 1_600_000_200];
  const query = {
    ...{
      groups: POOLS.slice(0, 2).map(alone),
      spans: [{ from: time - 299, to: time + 1 }],
      lastBlock: 26,
      time,
      isAligned: false,
    },
  };
  const limits = { swapsMax: 3, part: 5_000, tradersMax: 100 };
  const sum = () => sumTradeFigures({ reads: database, worker: { nodeReads }, limits }, eth, query);
  await expect(sum()).rejects.toMatchObject({ code: 'SWAPS_NOT_SUMMED' });
  const [row] = await database.query<{ readonly question: unknown }>(sql`SELECT question FROM state_questions`);
  const question = tradeFiguresReader.kind.question.parse(row?.question);
  expect(question).toMatchObject({ spans: [{ from: start - 300, to: start }] });
  const answer = await tradeFiguresReader.read({ chain: eth, database }, question);
  await database.query(
    sql`UPDATE state_questions SET settled_at = clock_timestamp(), answer = ${JSON.stringify(answer)}::jsonb`,
  );
  expect(await sum()).toEqual(await readTradeFigures(database, eth, question));
  await expect(sumTradeFigures({ reads: database, worker: null, limits }, eth, query)).rejects.toMatchObject({
    code: 'SWAPS_NOT_SUMMED',
  });
});
