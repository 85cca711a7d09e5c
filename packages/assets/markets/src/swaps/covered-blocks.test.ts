/** Swaps of requested wallets in blocks that are not indexed count in no figure of a pool. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { getCandles } from '../candles/get-candles.ts';
import type { PoolId } from '../events/pool-event.ts';
import { seedPools, seedSwaps, seedToken, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import { readTradeFigures } from '../trade-figures/read-trade-figures.ts';
import { pairOf } from '../trade-values/price-trade.ts';
import { readCoveredBlocks } from './dataset.ts';

const eth = createChainRegistry().get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const POOL: PoolId = addressOf(0x9a1);

const scratch = scratchOfFile();

beforeEach(async () => {
  const { database } = scratch;
  await seedToken(database, eth, CATS, 'CATS', 6);
  await seedToken(database, eth, WETH, 'WETH', 18);
  await seedPools(database, eth, [{ pool: POOL, tokens: [CATS, WETH] }]);
  for (const [first, last] of [
    [100, 199],
    [200, 299],
    [500, 1_000],
  ])
    await database.query(
      sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${eth.id}, 'swaps', ${first ?? null}, ${last ?? null}, 'none')`,
    );
  const row = (blockNumber: number) =>
    swapRow(eth, {
      ...{ pool: POOL, token0: CATS, token1: WETH, blockNumber },
      ...{ amount0: `${-(10n ** 6n)}`, amount1: `${10n ** 18n}` },
    });
  await seedSwaps(database, eth, [50, 100, 299, 300, 499, 500, 700].map(row));
});

test('only blocks of indexed ranges are covered', async () => {
  const covered = await readCoveredBlocks(scratch.database, eth);
  expect(covered.ranges).toEqual([
    { from: 100, to: 299 },
    { from: 500, to: 1_000 },
  ]);
  expect([50, 99, 100, 299, 300, 499, 500, 1_000, 1_001].filter(covered.has)).toEqual([100, 299, 500, 1_000]);

  const times = { from: timestampOf(0), to: timestampOf(1_000) };
  const pair = pairOf(CATS, WETH, eth);
  const candles = await getCandles(scratch.database, eth, {
    ...{ pool: POOL, pair, decimals: { base: 6, quote: 18 }, timeframe: '1s', currency: 'native' },
    ...{ times, pinnedBlock: null, limit: 100 },
  });
  const starts = [700, 500, 299, 100].map(timestampOf);
  expect(candles.candles.map(({ start, trades }) => [start, trades])).toEqual(starts.map((start) => [start, 1]));

  const pools = [{ pool: POOL, token0: CATS, token1: WETH, decimals: [6, 18] as const }];
  const groups = pools.map((pool) => ({ key: pool.pool, pools: [{ pool, isReversed: false }] }));
  const figures = await readTradeFigures(scratch.database, eth, { groups, spans: [times], lastBlock: 1_000 });
  expect(figures.get(POOL)?.map(({ buys, sells }) => buys + sells)).toEqual([4]);
});
