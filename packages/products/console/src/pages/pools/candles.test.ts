import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, sql } from '@chainstead/db';
import { coverBlocks, createPartitions } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeAll, expect, test } from 'vitest';
import { openPoolsStage } from './testing/open-pools-stage.ts';
import { CATS, DEEP, HEAD, SHALLOW, seedPools } from './testing/seed-pools.ts';

const eth = createChainRegistry().get('eth');
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const stage = stageOfFile(() => openPoolsStage(eth));
const visitor = madeForFile(() => stage.signIn());
/** Seconds before now, for each block after those of the pools. */
const AGES = [300, 180, 60];
/** The price of ether is older than a feed allows at the first of them. Seconds before now. */
const PRICED_SINCE = 200;

beforeAll(async () => {
  const { database } = stage;
  await seedPools(database, eth);
  await createPartitions(database, 'swaps', eth.id);
  for (const [index, age] of AGES.entries()) {
    const block = HEAD + 1 + index;
    await database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
       VALUES (${eth.id}, ${block}, sha256(${block}::text::bytea), now() - make_interval(secs => ${age}))`,
    );
    await database.query(
      sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet, transaction_hash)
       VALUES (address_key(${hexBytes(DEEP)}::bytea), ${eth.id}, ${block}, 0, 0, 0, ${hexBytes(DEEP)}::bytea, ${hexBytes(CATS)}, ${hexBytes(WETH)},
         -1000000, ${String(10n ** 15n * BigInt(index + 1))}, ${hexBytes(CATS)}, sha256('swap'))`,
    );
  }
  const aggregator = eth.etherPrice.feed?.aggregators[0] ?? CATS;
  const time = Math.floor(Date.now() / 1_000) - PRICED_SINCE;
  await seedAnswers(database, eth, [{ aggregator, blockNumber: HEAD + 2, answer: '200000000000', time }]);
  await database.query(sql`DELETE FROM sync_ranges`);
  for (const dataset of ['swaps', 'pool-states', 'feed-answers'])
    await coverBlocks(database, eth.id, dataset, 0, HEAD + AGES.length);
});

async function plotOf(pool: string) {
  const answer = await stage.get(`/console/look-up/candles.json?chain=eth&pool=${pool}`, visitor);
  return (await answer.json()) as {
    readonly times: readonly number[];
    readonly labels: readonly string[];
    readonly values: readonly (readonly number[])[];
    readonly range: readonly [number, number];
  };
}

test('a pool has candles in dollars, oldest first, in the width that has the most, where the price is known', async () => {
  const { times, labels, values, range } = await plotOf(DEEP);
  expect(labels).toEqual(['open', 'high', 'low', 'close', 'volume in 1min']);
  expect(times).toEqual([...times].sort());
  const [, , , close] = values;
  expect(close).toEqual([4, 6]);
  expect(range[0]).toBeLessThan(times[0] ?? 0);
});

test.each([SHALLOW, '0x12', "'; DROP"])('%s has no candles, which is no error', async (pool) => {
  expect((await plotOf(encodeURIComponent(pool))).times).toEqual([]);
});
