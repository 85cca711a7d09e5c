/** Figures of a busy pool read the swaps of hours that are not stored, and of no other hour. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { addressOf, explain, rowsRead, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeAll, expect, test } from 'vitest';
import { storeCandles } from '../candle-storage/store-candles.ts';
import { cover, seedPools, seedSwaps, seedToken, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import type { FiguredPool, TimeSpan } from '../trade-values/candle.ts';
import { readTradeFigures } from './read-trade-figures.ts';

const eth = createChainRegistry().get('eth');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators[0] ?? addressOf(0);
const POOL: FiguredPool = { pool: addressOf(0x9a1), token0: CATS, token1: USDC, decimals: [6, 6] };
const HOUR = 3_600;
/** 12 seconds apart: 40 hours of blocks, of which 35 may be stored. */
const [LAST, FINAL] = [12_000, 10_500];
/** A swap in every fifth block. */
const BLOCKS = Array.from({ length: LAST / 5 + 1 }, (_, place) => place * 5);

const scratch = scratchOfFile();

beforeAll(async () => {
  const { database } = scratch;
  await seedToken(database, eth, CATS, 'CATS', 6);
  await seedToken(database, eth, USDC, 'USDC', 6);
  for (const dataset of ['swaps', 'feed-answers']) await cover(database, eth, dataset, LAST);
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint, finalized) VALUES (${eth.id}, 0, 0, ${LAST}, ${FINAL})`,
  );
  for (const blockNumber of [0, 6_000])
    await seedAnswers(database, eth, [{ aggregator: FEED, blockNumber, answer: `${10n ** 8n}` }]);
  await seedPools(database, eth, [{ pool: POOL.pool, tokens: [CATS, USDC] }]);
  const rows = BLOCKS.map((blockNumber) =>
    swapRow(eth, {
      ...{
        pool: POOL.pool,
        token0: CATS,
        token1: USDC,
        blockNumber,
        wallet: addressOf(0xa00 + (blockNumber % 7)),
      },
      ...{ amount0: `${blockNumber % 2 === 0 ? -7 : 7}`, amount1: `${blockNumber % 2 === 0 ? 9 : -9}` },
    }),
  );
  await seedSwaps(database, eth, rows);
});

const figuresOf = (span: TimeSpan, database: ReadDatabase = scratch.database) =>
  readTradeFigures(database, eth, {
    groups: [{ key: POOL.pool, pools: [{ pool: POOL, isReversed: false }] }],
    ...{ spans: [span], lastBlock: LAST },
  });

/** Returns the number of swaps that the figures of a span read. */
async function swapsRead(span: TimeSpan): Promise<number> {
  const { database } = scratch;
  const statements: Sql[] = [];
  const seen: ReadDatabase = {
    select: (statement: Sql) => {
      statements.push(statement);
      return database.select(statement);
    },
    selectLasting: (statement) => database.selectLasting(statement),
  };
  await figuresOf(span, seen);
  const counts: number[] = [];
  for (const statement of statements)
    counts.push(rowsRead((await explain(database, statement, 'custom')).nodes, 'swaps'));
  // Once to divide them into parts, and once to add them.
  return counts.reduce((sum, count) => sum + count, 0) / 2;
}

const timeOfHour = (hour: number) => Math.ceil(timestampOf(0) / HOUR) * HOUR + hour * HOUR;
const swapsIn = ({ from, to }: TimeSpan) =>
  BLOCKS.filter((block) => timestampOf(block) >= from && timestampOf(block) < to).length;

test('figures of a day read the parts of hours at both ends, and hours that are not stored yet', async () => {
  const spans = {
    whole: { from: timeOfHour(2), to: timeOfHour(26) },
    parts: { from: timeOfHour(2) + 1_000, to: timeOfHour(26) + 1_500 },
    newest: { from: timestampOf(LAST) - 24 * HOUR + 1, to: timestampOf(LAST) + 1 },
  };
  const expected = new Map(
    await Promise.all(Object.values(spans).map(async (span) => [span, await figuresOf(span)] as const)),
  );
  for (const span of Object.values(spans)) expect(await swapsRead(span)).toBe(swapsIn(span));
  await storeCandles({
    ...{ database: scratch.database, chain: eth, signal: new AbortController().signal },
    now: timestampOf(LAST),
  });
  await scratch.database.query(sql`ANALYZE swaps`);
  const [stored] = await scratch.database.query<{ first: number; end: number }>(
    sql`SELECT min(start) AS first, max(start) + 1 AS "end" FROM candle_spans WHERE hours = 1 AND is_stored`,
  );
  const [first, end] = [(stored?.first ?? 0) * HOUR, (stored?.end ?? 0) * HOUR];
  expect(first).toBeLessThanOrEqual(timeOfHour(2));
  expect(end).toBeGreaterThan(timeOfHour(27));
  expect(end).toBeLessThan(timestampOf(LAST));

  expect(await swapsRead(spans.whole)).toBe(0);
  expect(await swapsRead(spans.parts)).toBe(
    swapsIn({ from: spans.parts.from, to: timeOfHour(3) }) +
      swapsIn({ from: timeOfHour(26), to: spans.parts.to }),
  );
  const started = Math.ceil(spans.newest.from / HOUR) * HOUR;
  expect(await swapsRead(spans.newest)).toBe(
    swapsIn({ from: spans.newest.from, to: started }) + swapsIn({ from: end, to: spans.newest.to }),
  );
  for (const [span, figures] of expected) expect(await figuresOf(span)).toEqual(figures);
});
