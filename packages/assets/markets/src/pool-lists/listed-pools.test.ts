import { createChainRegistry } from '@chainstead/chains';
import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { addressOf, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { seedPools, seedStates, seedToken } from '../swap-lists/testing/seeded-swaps.ts';
import { readListedPool, readNewestStateBlocks, readPoolsListedOf } from './listed-pools.ts';

const eth = createChainRegistry().get('eth');
const base = createChainRegistry().get('base');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const [CATS, DOGS] = [addressOf(0xca75), addressOf(0xd095)];
const [PAIR, SUSHI] = [addressOf(0x9001), addressOf(0x9002)];
const [FAKE, GONE, ELSEWHERE] = [addressOf(0x9003), addressOf(0x9004), addressOf(0x9005)];
/** A pool of the native token at a pool manager. */
const MANAGED: PoolId = hashOf(4, 4);

const scratch = scratchOfFile();

beforeAll(async () => {
  const { database } = scratch;
  await seedPools(database, eth, [
    { pool: SUSHI, tokens: [CATS, WETH], exchange: 'Sushiswap v2' },
    { pool: PAIR, tokens: [WETH, DOGS] },
    { pool: FAKE, tokens: [CATS, WETH], status: 'unproven' },
    { pool: GONE, tokens: [CATS, WETH], status: 'disproved' },
    { pool: MANAGED, tokens: [ZERO_ADDRESS, DOGS], exchange: 'Uniswap v4', isCounted: false },
  ]);
  await seedPools(database, base, [{ pool: ELSEWHERE, tokens: [CATS, WETH] }]);
  await seedToken(database, eth, CATS, 'CATS', 6);
  await database.query(
    sql`UPDATE pools SET due_at = now(), error_message = 'timeout' WHERE pool = ${hexBytes(FAKE)} AND chain_id = ${eth.id}`,
  );
  await database.query(sql`UPDATE pools SET proof_block = 7, fee = 3000 WHERE pool = ${hexBytes(SUSHI)}`);
  const state = {
    ...{ chainId: eth.id, transactionIndex: 0, logIndex: 0, tick: null },
    ...{ sqrtPriceX96: null, liquidity: null, reserve0: '1', reserve1: '1' },
  };
  const states = [
    [SUSHI, 10],
    [SUSHI, 30],
    [PAIR, 20],
  ] as const;
  await seedStates(
    database,
    eth,
    states.map(([pool, blockNumber]) => ({ ...state, pool, poolKey: poolKey(pool), blockNumber })),
  );
});

const idsOf = async (...[token, status, limit]: [typeof CATS, 'proven' | 'unproven' | null, number]) => {
  const { pools, isWhole } = await readPoolsListedOf(scratch.database, eth, { token, status, limit });
  return [pools.map(({ pool }) => pool), isWhole];
};

test('pools of a token are those of both sides, proven ones first, without disproved ones', async () => {
  expect(await idsOf(CATS, null, 10)).toEqual([[SUSHI, FAKE], true]);
  expect(await idsOf(WETH, null, 10)).toEqual([[SUSHI, PAIR, MANAGED, FAKE], true]);
  expect(await idsOf(DOGS, null, 10)).toEqual([[PAIR, MANAGED], true]);
  expect(await idsOf(WETH, 'unproven', 10)).toEqual([[FAKE], true]);
  expect(await idsOf(addressOf(0x404), null, 10)).toEqual([[], true]);
});

test('a side with more pools than are read is not whole', async () => {
  expect(await idsOf(CATS, null, 2)).toEqual([[SUSHI, FAKE], false]);
  const [pools, isWhole] = await idsOf(CATS, null, 1);
  expect([pools, isWhole]).toEqual([[expect.any(String)], false]);
});

test('a pool has its proof, and one that is due the last error', async () => {
  expect(await readListedPool(scratch.database, eth, SUSHI)).toEqual({
    ...{ pool: SUSHI, vault: null, status: 'proven', proof: 'factory', proofBlock: 7, exchange: 'Sushiswap v2' },
    ...{ factory: addressOf(0xfac), token0: CATS, token1: WETH, symbol0: 'CATS', symbol1: null, fee: 3_000 },
    ...{ tickSpacing: null, isStable: null, hooks: null, isCounted: true, isDue: false, problem: null },
  });
  expect(await readListedPool(scratch.database, eth, FAKE)).toMatchObject({
    ...{ status: 'unproven', proof: null, exchange: null, isCounted: false, isDue: true, problem: 'timeout' },
  });
  expect(await readListedPool(scratch.database, eth, GONE)).toMatchObject({ status: 'disproved', isDue: false });
  expect(await readListedPool(scratch.database, eth, MANAGED)).toMatchObject({ pool: MANAGED, isCounted: false });
  expect(await readListedPool(scratch.database, eth, ELSEWHERE)).toBeNull();
});

test('the newest state of each pool is found', async () => {
  expect(await readNewestStateBlocks(scratch.database, eth, [SUSHI, FAKE, PAIR])).toEqual(
    new Map([
      [SUSHI, 30],
      [PAIR, 20],
    ]),
  );
  expect(await readNewestStateBlocks(scratch.database, eth, [])).toEqual(new Map());
});
