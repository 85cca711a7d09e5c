/** Pools whose hook may change amounts: counted while the setting lists the hook, also if they were stored before. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { hexBytes, hexText, rawSql, sql } from '@chainstead/db';
import { addressOf, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import type { PoolId } from '../events/pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { poolCreations } from '../pool-creations/dataset.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import { swaps } from '../swaps/dataset.ts';
import type { PoolCreationRow } from '../tables/schema.ts';
import { proveStoredPools } from '../testing/proven-pools.ts';
import { rollBackRows, storeRows } from '../testing/stored-rows.ts';
import { applyTrustedHooks } from './pool-rows.ts';

const eth = createChainRegistry().get('eth');
const trusting = (...trustedHooks: readonly Address[]): Chain => ({ ...eth, trustedHooks });
/** The last bits of the address: bit 2 and bit 3 return amounts. */
const [CHANGING, OTHER, HARMLESS] = [addressOf(0xf04), addressOf(0xf08), addressOf(0xf03)];
const [CREATED, SWAPPED] = [10, 11];
const TOKENS = [addressOf(0x70), addressOf(0x71)] as const;
const managerOf = (family: string): Address => {
  const found = exchangesOf(eth).all.find(({ exchange }) => exchange.family.name === family);
  if (found === undefined) throw new Error(`Ethereum has no exchange of the family ${family}`);
  return found.deployment.factory;
};
const [ofChanging, ofOther, ofHarmless, ofNone] = [hashOf(9, 1), hashOf(9, 2), hashOf(9, 3), hashOf(9, 4)];
/** Pools with their hooks. */
const POOLS: readonly (readonly [PoolId, Address | null])[] = [
  [ofChanging, CHANGING],
  [ofOther, OTHER],
  [ofHarmless, HARMLESS],
  [ofNone, null],
];

const scratch = scratchOfFile();

beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE swaps, pool_creations, pools, trades, candle_spans, stale_candles`);
});

async function storeSwaps(): Promise<void> {
  const rows = POOLS.map(([pool], transactionIndex) =>
    swapRow(eth, {
      ...{ pool, token0: TOKENS[0], token1: TOKENS[1], blockNumber: SWAPPED, transactionIndex },
      vault: managerOf('v4'),
    }),
  );
  await storeRows(scratch.database, eth, swaps, rows);
}

const storeCreations = () =>
  storeRows(
    scratch.database,
    eth,
    poolCreations,
    POOLS.map(
      ([pool, hooks], logIndex): PoolCreationRow => ({
        ...{ poolKey: poolKey(pool), chainId: eth.id, blockNumber: CREATED, transactionIndex: 0, logIndex },
        ...{ fee: 3_000, tickSpacing: 60, isStable: null, pool, factory: managerOf('v4'), hooks },
        ...{ token0: TOKENS[0], token1: TOKENS[1], transactionHash: hashOf(2, 1) },
      }),
    ),
  );

async function poolsWhere(condition: string): Promise<readonly Hex[]> {
  const rows = await scratch.database.query<{ pool: Hex }>(
    sql`SELECT ${hexText('pool')} AS pool FROM pools WHERE ${rawSql(condition)} ORDER BY pools.pool`,
  );
  return rows.map(({ pool }) => pool);
}

async function tradedPools(): Promise<readonly Hex[]> {
  const rows = await scratch.database.query<{ pool: Hex }>(
    sql`SELECT ${hexText('swap.pool')} AS pool FROM trades AS trade JOIN swaps AS swap USING (pool_key, chain_id, block_number, transaction_index, log_index)
     ORDER BY swap.pool`,
  );
  return rows.map(({ pool }) => pool);
}

async function expectCounted(...pools: readonly Hex[]): Promise<void> {
  expect(await poolsWhere('is_counted')).toEqual(pools.toSorted());
  expect(await tradedPools()).toEqual(pools.toSorted());
}

test('a pool counts by its hook at its proof', async () => {
  await storeSwaps();
  await storeCreations();
  await proveStoredPools(scratch.database, trusting(CHANGING));
  await expectCounted(ofChanging, ofHarmless, ofNone);
  expect(await poolsWhere('is_trusted')).toEqual([ofChanging]);
});

test('stored pools follow a changed setting, and again', async () => {
  await storeSwaps();
  await storeCreations();
  await proveStoredPools(scratch.database, eth);
  await expectCounted(ofHarmless, ofNone);
  for (const [hooks, counted] of [
    [[CHANGING], [ofChanging]],
    [
      [CHANGING, OTHER, HARMLESS],
      [ofChanging, ofOther],
    ],
    [[OTHER], [ofOther]],
    [[OTHER], [ofOther]],
    [[], []],
  ] as const) {
    await applyTrustedHooks(scratch.database, trusting(...hooks));
    await expectCounted(...counted, ofHarmless, ofNone);
    expect(await poolsWhere('is_trusted')).toEqual(counted.toSorted());
  }
});

test('a changed pool has no stored candles until they are stored again', async () => {
  await storeSwaps();
  await storeCreations();
  await proveStoredPools(scratch.database, eth);
  await scratch.database.query(
    sql`INSERT INTO candle_spans (chain_id, hours, start, first_block, last_block, prices_from_block, settings, claim, is_stored)
     VALUES (${eth.id}, 1, 1, 0, 100, 0, 'settings', gen_random_uuid(), true)`,
  );
  await applyTrustedHooks(scratch.database, trusting(CHANGING));
  const stale = await scratch.database.query(
    sql`SELECT ${hexText('pool')} AS pool, hours, start FROM stale_candles ORDER BY hours`,
  );
  expect(stale).toEqual([
    { pool: ofChanging, hours: 1, start: 1 },
    { pool: ofChanging, hours: 24, start: 0 },
  ]);
});

test('a reorg of the creation leaves the pool to its next proof', async () => {
  const chain = trusting(CHANGING);
  await storeSwaps();
  await storeCreations();
  await proveStoredPools(scratch.database, chain);
  await rollBackRows(scratch.database, eth, poolCreations, CREATED - 1);
  await scratch.database.query(sql`DELETE FROM pool_creations`);
  await applyTrustedHooks(scratch.database, eth);
  expect(await poolsWhere(`status = 'unproven' AND is_trusted`)).toEqual([ofChanging]);
  await storeCreations();
  await proveStoredPools(scratch.database, eth);
  await expectCounted(ofHarmless, ofNone);
  expect(await poolsWhere('is_trusted')).toEqual([]);
});

test('another chain keeps its pools', async () => {
  await storeSwaps();
  await storeCreations();
  await proveStoredPools(scratch.database, trusting(CHANGING));
  await applyTrustedHooks(scratch.database, { ...createChainRegistry().get('base'), trustedHooks: [OTHER] });
  await expectCounted(ofChanging, ofHarmless, ofNone);
});

test('more pools than one transaction changes', async () => {
  const many = Array.from({ length: 250 }, (_, place) => hashOf(8, place));
  await scratch.database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, hooks, due_at)
     SELECT pool_key, ${eth.id}, pool, 'proven', 'Uniswap v4', ${hexBytes(managerOf('v4'))}, ${hexBytes(TOKENS[0])}, ${hexBytes(TOKENS[1])}, ${hexBytes(CHANGING)}, NULL FROM unnest(${many.map(poolKey)}::bigint[], ${many.map(hexBytes)}::bytea[]) AS given (pool_key, pool)`,
  );
  await applyTrustedHooks(scratch.database, trusting(CHANGING));
  expect(await poolsWhere('is_counted AND is_trusted')).toHaveLength(250);
  await applyTrustedHooks(scratch.database, eth);
  expect(await poolsWhere('is_counted OR is_trusted')).toEqual([]);
});
