/** Dollars in SQL against those of the API. */
import { addressBytes, rawSql, sql } from '@chainstead/db';
import { seedTransfers } from '@chainstead/erc20/testing';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, expect, test } from 'vitest';
import { storeCandles } from '../candle-storage/store-candles.ts';
import { CATS, eth, FEED, POOL, seedEtherPool, WETH } from '../candle-storage/testing/ether-pool.ts';
import { createMarketRoutes } from '../market-routes.ts';
import { noBackfill } from '../swap-lists/testing/no-backfill.ts';
import { seedPools, seedSwaps, swapRow } from '../swap-lists/testing/seeded-swaps.ts';

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

test('transfers of a token have the price of their hour in the pool with the most volume', async () => {
  const { database } = scratch;
  const place = { transactionIndex: 0, logIndex: 0, from: addressOf(1), to: addressOf(2), token: CATS };
  await database.query(sql`DELETE FROM blocks WHERE block_number IN (3000, ${LAST})`);
  await seedTransfers(database, eth, [
    { ...place, blockNumber: 3_000, value: 10n ** 18n },
    { ...place, blockNumber: LAST, value: 10n ** 18n },
  ]);
  const read = (view: 'erc20_transfers' | 'wallet_transfers') =>
    database.query(
      sql`SELECT DISTINCT block_number, amount_usd FROM analytics.${rawSql(view)} ORDER BY block_number`,
    );
  // The last hour is not stored yet.
  const expected = [
    { blockNumber: 3_000, amountUsd: '724.03' },
    { blockNumber: LAST, amountUsd: null },
  ];
  expect(await read('erc20_transfers')).toEqual(expected);
  expect(await read('wallet_transfers')).toEqual(expected);
  const [shallow, deep] = [addressOf(0x9a2), addressOf(0x9a3)];
  await seedPools(database, eth, [
    { pool: shallow, tokens: [CATS, addressOf(0x7)] },
    { pool: deep, tokens: [CATS, addressOf(0x8)] },
  ]);
  for (const [pool, volume] of [
    [shallow, 1n],
    [deep, 10n ** 40n],
  ] as const)
    await database.query(
      sql`INSERT INTO pool_candles SELECT address_key(${addressBytes(pool)}), chain_id, start, swaps, buys, sells, hours, decimals0, decimals1,
         is_valued, is_quoted_in0, ${addressBytes(pool)}, ${volume}::numeric, 0, decode('09000207d000010100', 'hex'), buyers, sellers
       FROM pool_candles WHERE pool = ${addressBytes(POOL)} AND hours = 1`,
    );
  expect(await read('erc20_transfers')).toEqual([{ blockNumber: 3_000, amountUsd: '2000.00' }, expected[1]]);
});

test('a transfer finds the price of its token by indexes', async () => {
  const { database } = scratch;
  const others = sql`SELECT int8send(n) || ${Buffer.alloc(12)}::bytea AS pool, n FROM generate_series(1, 2000) AS n`;
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, proof, exchange, token0, token1, is_counted)
     SELECT address_key(pool), ${eth.id}, pool, 'proven', 'creation', 'Uniswap v2', pool, ${addressBytes(WETH)}, true FROM (${others}) AS other`,
  );
  await database.query(
    sql`INSERT INTO pool_candles SELECT address_key(other.pool), chain_id, start, swaps, buys, sells, hours, decimals0, decimals1,
       is_valued, is_quoted_in0, other.pool, 0, 0, prices, buyers, sellers
     FROM pool_candles AS candle, (${others}) AS other WHERE candle.pool = ${addressBytes(POOL)} AND hours = 1 AND n <= 200`,
  );
  await database.query(sql`ANALYZE pools, pool_candles, candle_spans, tokens`);
  const [{ body } = { body: '' }] = await database.query<{ body: string }>(
    sql`SELECT prosrc AS body FROM pg_proc WHERE oid = 'analytics.token_usd'::regproc`,
  );
  const [, statement = ''] = /RETURN \(\s*(SELECT[^;]*)\n *\);/.exec(body) ?? [];
  const query = statement
    .replaceAll('token_usd.token', `decode('${CATS.slice(2)}', 'hex')`)
    .replaceAll('token_usd.chain_id', `${eth.id}`)
    .replaceAll('token_usd.block_time', `to_timestamp(${timestampOf(3_000)})`);
  const plan = (await database.query(rawSql(`EXPLAIN ${query}`))).map((row) => Object.values(row)[0]).join('\n');
  expect(plan).toContain('pools_priced_by_token0');
  expect(plan).toContain('pools_priced_by_token1');
  expect(plan).toMatch(/pool_candles_pkey[^\n]*\n *Index Cond: \(\(pool_key = [^\n]*start = /);
});
