/** Sums of liquidity by tick and span, under any order of arrival and after reorgs, and the statement that reads them. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, sql } from '@chainstead/db';
import { addressOf, createSeededRandom, seedBuilt } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import { swaps } from '../swaps/dataset.ts';
import type { SwapRow } from '../tables/schema.ts';
import { rollBackRows, storeRows } from '../testing/stored-rows.ts';
import { firstUnsummedBlock, readTickLiquidity } from './read-tick-liquidity.ts';
import { tickLiquidityOfSwaps } from './tick-liquidity-projection.ts';

const eth = createChainRegistry().get('eth');
const MANAGER = addressOf(0x44);
const POOLS = ['aa', 'bb'].map((byte) => `0x${byte.repeat(32)}` as PoolId);
const LAST = 800_000;
/** Only this projection. */
const counted = { ...swaps, projections: [tickLiquidityOfSwaps] };

const scratch = scratchOfFile();

beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE swaps, tick_liquidity, pool_creations, projections`);
  await seedBuilt(scratch.database, eth.id, tickLiquidityOfSwaps);
});

function changeRow(pool: PoolId, blockNumber: number, logIndex: number, given: Partial<SwapRow> = {}): SwapRow {
  const row = { pool, blockNumber, logIndex, token0: null, token1: null, amount0: null, amount1: null };
  return swapRow(eth, {
    ...row,
    kind: 1,
    vault: MANAGER,
    tickLower: -60,
    tickUpper: 60,
    liquidityDelta: '1',
    ...given,
  });
}

function randomRows(seed: string): readonly SwapRow[] {
  const random = createSeededRandom(seed);
  return Array.from({ length: 300 }, (_, logIndex) => {
    const tickLower = 10 * random.integer(-5, 4);
    return changeRow(random.pick(POOLS), random.integer(1, LAST), logIndex, {
      ...{ tickLower, tickUpper: tickLower + 10 * random.integer(1, 5) },
      liquidityDelta: (BigInt(random.integer(-1_000, 1_000)) * 10n ** 25n).toString(),
    });
  });
}

/** Sums of the rows of a pool before a block, without zeros. */
function expectedTicks(rows: readonly SwapRow[], pool: PoolId, end: number) {
  const sums = new Map<number, bigint>();
  const add = (tick: number | null, net: bigint): unknown =>
    sums.set(tick ?? 0, (sums.get(tick ?? 0) ?? 0n) + net);
  for (const row of rows) {
    if (row.pool !== pool || row.blockNumber >= end) continue;
    add(row.tickLower, BigInt(row.liquidityDelta ?? 0));
    add(row.tickUpper, -BigInt(row.liquidityDelta ?? 0));
  }
  return [...sums].filter(([, net]) => net !== 0n).toSorted(byTick);
}

const byTick = ([one]: readonly [number, bigint], [other]: readonly [number, bigint]): number => one - other;

async function readTicks(block: number) {
  const pools = POOLS.map((pool) => ({ pool, factory: MANAGER }));
  const read = await readTickLiquidity(scratch.database, eth, pools, block);
  return read?.map(({ ticks }) => ticks.map(({ tick, net }) => [tick, net] as const).toSorted(byTick));
}

test('sums at any block are those of the rows before it, in any order of arrival and after a reorg', async () => {
  const rows = randomRows('ticks');
  const { database } = scratch;
  for (let start = 0; start < rows.length; start += 100)
    await storeRows(database, eth, counted, rows.slice(start, start + 100));
  const random = createSeededRandom('blocks');
  const blocks = [
    0,
    1,
    1_023,
    1_024,
    262_143,
    262_144,
    524_288,
    ...Array.from({ length: 20 }, () => random.integer(1, LAST)),
  ];
  for (const block of blocks)
    expect(await readTicks(block), `at block ${block}`).toEqual(
      POOLS.map((pool) => expectedTicks(rows, pool, firstUnsummedBlock(block))),
    );
  await rollBackRows(database, eth, counted, 400_000);
  const left = rows.filter(({ blockNumber }) => blockNumber <= 400_000);
  expect(await readTicks(LAST)).toEqual(POOLS.map((pool) => expectedTicks(left, pool, LAST)));
});

test('pools that hold their tokens themselves, swaps and other liquidity are not counted', async () => {
  const [pool = '0x'] = POOLS;
  await storeRows(scratch.database, eth, counted, [
    changeRow(pool, 1, 0, { vault: null }),
    changeRow(pool, 1, 1, {
      kind: 0,
      tickLower: null,
      tickUpper: null,
      liquidityDelta: null,
      amount0: '1',
      amount1: '-1',
    }),
    changeRow(pool, 1, 2, { tickLower: null, tickUpper: null, liquidityDelta: null }),
  ]);
  expect(await readTicks(5_000)).toEqual([[], []]);
});

test('the creation is the one of the manager, and nothing is known while the sums are built', async () => {
  const [pool = '0x', other = '0x'] = POOLS;
  for (const [of, factory, block] of [
    [pool, MANAGER, 70],
    [other, addressOf(0x45), 60],
  ] as const)
    await scratch.database.query(
      sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
       VALUES (${poolKey(of)}, ${eth.id}, ${block}, 0, 0, ${hexBytes(of)}, ${hexBytes(factory)}, sha256('x'))`,
    );
  const pools = [pool, other].map((one) => ({ pool: one, factory: MANAGER }));
  const read = () => readTickLiquidity(scratch.database, eth, pools, 100);
  expect(await read()).toEqual([
    { createdAt: 70, ticks: [] },
    { createdAt: null, ticks: [] },
  ]);
  await seedBuilt(scratch.database, eth.id, tickLiquidityOfSwaps, 'building');
  expect(await read()).toBeNull();
});
