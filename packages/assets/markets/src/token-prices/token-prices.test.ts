/** Dollars in SQL against those of the API. */
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, expect, test } from 'vitest';
import { storeCandles } from '../candle-storage/store-candles.ts';
import { CATS, eth, FEED, POOL, seedEtherPool, WETH } from '../candle-storage/testing/ether-pool.ts';
import { createMarketRoutes } from '../market-routes.ts';
import { noBackfill } from '../swap-lists/testing/no-backfill.ts';
import { seedSwaps, swapRow } from '../swap-lists/testing/seeded-swaps.ts';

/** 30 hours of 300 blocks, of which 25 are settled. */
const [LAST, SETTLED, STEP] = [9_000, 7_500, 300];

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, createMarketRoutes(noBackfill)));

beforeEach(async () => {
  const { database } = scratch;
  await seedEtherPool(database, LAST, SETTLED);
  await seedAnswers(
    database,
    eth,
    Array.from({ length: 10 }, (_, place) => ({
      ...{ aggregator: FEED, blockNumber: place * 900, answer: `${BigInt(2_000 + place * 10) * 10n ** 8n}` },
    })),
  );
  const swap = (blockNumber: number, ether: bigint) =>
    swapRow(eth, {
      ...{ pool: POOL, token0: CATS, token1: WETH, blockNumber },
      ...{ amount0: `${3n * 10n ** 18n}`, amount1: `${-ether * 10n ** 15n}` },
    });
  const rows = Array.from({ length: LAST / STEP + 1 }, (_, place) =>
    swap(place * STEP, 1_000n + 7n * BigInt(place)),
  );
  await seedSwaps(database, eth, rows);
  await storeCandles({
    database,
    chain: eth,
    signal: new AbortController().signal,
    now: timestampOf(LAST),
  });
});

test('swaps without an ether table have the value that the API returns, in stored hours', async () => {
  const response = await api.request(`/api/v2.2/pairs/${POOL}/swaps?chain=eth&limit=100`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  const { result } = (await response.json()) as {
    result: readonly { blockNumber: number; totalValueUsd: number }[];
  };
  const expected = new Map(result.map(({ blockNumber, totalValueUsd }) => [blockNumber, totalValueUsd]));
  const rows = await scratch.database.query<{ blockNumber: number; amountUsd: string | null }>(
    sql`SELECT block_number, amount_usd FROM analytics.swaps ORDER BY block_number`,
  );
  const valued = rows.filter(({ amountUsd }) => amountUsd !== null);
  expect(valued.length).toBeGreaterThan(15);
  for (const { blockNumber, amountUsd } of valued)
    expect([blockNumber, Number(amountUsd)]).toEqual([
      blockNumber,
      Number((expected.get(blockNumber) ?? 0).toFixed(2)),
    ]);
});

test('the price of a token at a block is the close of its hour, and none while the hour is stale', async () => {
  const { database } = scratch;
  const at = sql`token_bytes = decode(${CATS.slice(2)}, 'hex') AND ${3_000} BETWEEN first_block AND last_block`;
  const read = () =>
    database.query(sql`SELECT token_symbol, round(usd, 4) AS usd, pool FROM analytics.token_prices WHERE ${at}`);
  // 1.07 ether of $2,030 for three cats.
  expect(await read()).toEqual([{ tokenSymbol: 'CATS', usd: '724.0333', pool: POOL }]);
  await database.query(
    sql`INSERT INTO stale_candles (pool_key, chain_id, hours, start, pool)
     SELECT pool_key, chain_id, hours, start, pool FROM pool_candles WHERE hours = 1`,
  );
  expect(await read()).toEqual([]);
  expect(await database.query(sql`SELECT 1 FROM analytics.swaps WHERE amount_usd IS NOT NULL`)).toEqual([]);
});
