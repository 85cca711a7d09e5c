/** States of pools over any part of the indexed blocks, with and without a reading: each is unknown, or the one of the chain. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, sql } from '@chainstead/db';
import type { ConcentratedState, Reserves } from '@chainstead/markets/requests';
import { addressOf, coverBlocks, createPartitions, storeBlocks } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { PricePlace } from '../place/price-place.ts';
import type { PoolOfToken } from '../pools/hop-pools.ts';
import { readPoolHistories } from './pool-histories.ts';

const eth = createChainRegistry().get('eth');
const HEAD = 24;
const WINDOW = 4;
const [PAIR, POOL] = [addressOf(0x9c1), addressOf(0x9c2)];
const poolOf = (pool: typeof PAIR): PoolOfToken => ({
  ...{ pool, exchange: 'Example', factory: addressOf(9), token0: addressOf(1), token1: addressOf(2) },
  ...{ isStable: null, tickSpacing: null },
});

const scratch = scratchOfFile();
beforeAll(async () => {
  const { database } = scratch;
  for (const table of ['pool_states', 'swaps']) await createPartitions(database, table, eth.id);
  await storeBlocks(database, eth.id, 0, HEAD, { start: 1_700_000_000 });
});

type State = Reserves | ConcentratedState;

/** Events of one block: a swap, and a change of liquidity behind it or before it. */
interface BlockEvents {
  readonly swap: { readonly price: number; readonly liquidity: number } | null;
  readonly change: { readonly delta: number; readonly isInRange: boolean; readonly isBefore: boolean } | null;
}

const blockEvents: fc.Arbitrary<BlockEvents> = fc.record({
  swap: fc.option(
    fc.record({ price: fc.integer({ min: 1, max: 900 }), liquidity: fc.integer({ min: 500, max: 900 }) }),
  ),
  change: fc.option(
    fc.record({ delta: fc.integer({ min: -9, max: 9 }), isInRange: fc.boolean(), isBefore: fc.boolean() }),
  ),
});

const history = fc.record({
  blocks: fc.array(blockEvents, { minLength: HEAD + 1, maxLength: HEAD + 1 }),
  runStart: fc.integer({ min: 0, max: HEAD }),
  reading: fc.option(fc.integer({ min: 0, max: HEAD })),
});

const SQRT = 1n << 96n;

/** The pool's state at the end of each block, as its contract has it. */
function statesOf(blocks: readonly BlockEvents[]): readonly State[] {
  let state: ConcentratedState = { of: 'price', sqrtPriceX96: SQRT, liquidity: 700n, tick: 0 };
  return blocks.map(({ swap, change }) => {
    const add = (): void => {
      if (change?.isInRange === true) state = { ...state, liquidity: state.liquidity + BigInt(change.delta) };
    };
    if (change?.isBefore === true) add();
    if (swap !== null)
      state = { ...state, sqrtPriceX96: SQRT * BigInt(swap.price), liquidity: BigInt(swap.liquidity) };
    if (change?.isBefore === false) add();
    return state;
  });
}

/** Stores the events from a block on. */
async function storeEvents(blocks: readonly BlockEvents[], first: number): Promise<void> {
  const { database } = scratch;
  for (const [block, { swap, change }] of blocks.entries()) {
    if (block < first) continue;
    if (swap !== null) {
      await database.query(
        sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
         VALUES (address_key(${hexBytes(POOL)}), ${eth.id}, ${block}, 0, 5, ${hexBytes(POOL)}, ${(SQRT * BigInt(swap.price)).toString()}, ${swap.liquidity}, 0)`,
      );
      await database.query(
        sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
         VALUES (address_key(${hexBytes(PAIR)}), ${eth.id}, ${block}, 0, 5, ${hexBytes(PAIR)}, ${swap.price}, ${swap.liquidity})`,
      );
    }
    if (change !== null)
      await database.query(
        sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, tick_lower, tick_upper, kind, pool, liquidity_delta,
           wallet, transaction_hash) VALUES (address_key(${hexBytes(POOL)}), ${eth.id}, ${block}, 0, ${change.isBefore ? 1 : 9}, ${change.isInRange ? -60 : 30}, 60, 1, ${hexBytes(POOL)}, ${change.delta}, ${hexBytes(POOL)}, sha256('x'))`,
      );
  }
  for (const dataset of ['pool-states', 'swaps']) await coverBlocks(database, eth.id, dataset, first, HEAD);
}

async function storeReading(pool: typeof PAIR, block: number, state: State): Promise<void> {
  const [reserves, price] = state.of === 'reserves' ? [state, null] : [null, state];
  await scratch.database.query(
    sql`INSERT INTO pool_readings (pool_key, chain_id, block_number, stood_since, pool, reserve0, reserve1, sqrt_price_x96, liquidity, tick)
     VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${block}::integer, 1700000000 + ${block}::integer * 12, ${hexBytes(pool)}, ${reserves?.reserve0.toString() ?? null}, ${reserves?.reserve1.toString() ?? null}, ${price?.sqrtPriceX96.toString() ?? null}, ${price?.liquidity.toString() ?? null}, ${price?.tick ?? null})`,
  );
}

/** The reserves of the pair: those of its last swap. */
function reservesOf(blocks: readonly BlockEvents[]): readonly State[] {
  let state: Reserves = { of: 'reserves', reserve0: 1n, reserve1: 1n };
  return blocks.map(({ swap }) => {
    if (swap !== null) state = { of: 'reserves', reserve0: BigInt(swap.price), reserve1: BigInt(swap.liquidity) };
    return state;
  });
}

const placeAt = (block: number, runStart: number): PricePlace => ({
  ...{ block, time: 1_700_000_000 + block * 12, runStart, windowStart: Math.max(-1, block - WINDOW) },
  ...{ anchors: [], pending: [], ether: null },
});

test('a state is unknown or final, whichever blocks are indexed and whenever the pool was read', async () => {
  const { database } = scratch;
  await fc.assert(
    fc.asyncProperty(history, async ({ blocks, runStart, reading }) => {
      await database.query(sql`TRUNCATE pool_states, swaps, sync_ranges, pool_readings`);
      await storeEvents(blocks, runStart);
      const truth = new Map([
        [PAIR, reservesOf(blocks)],
        [POOL, statesOf(blocks)],
      ]);
      if (reading !== null)
        for (const [pool, states] of truth) {
          const state = states[reading];
          if (state !== undefined) await storeReading(pool, reading, state);
        }
      const firstSwap = blocks.findIndex(({ swap }, block) => block >= runStart && swap !== null);
      for (let block = runStart; block <= HEAD; block++) {
        const [found = []] = await readPoolHistories(
          database,
          eth,
          [poolOf(PAIR), poolOf(POOL)],
          [placeAt(block, runStart)],
        );
        const isRead = reading !== null && reading >= runStart - 1 && reading <= block;
        const isSwapped = firstSwap !== -1 && firstSwap <= block;
        // Known from the first event or the reading on, whichever is earlier.
        expect(found).toHaveLength(isRead || isSwapped ? 2 : 0);
        for (const { pool, states, readAt } of found) {
          const own = truth.get(pool as typeof PAIR) ?? [];
          expect([block, states.at(-1)?.state]).toEqual([block, own[block]]);
          for (const one of states) expect(one.state).toEqual(own[one.block]);
          expect(readAt).toBe(isRead && !(isSwapped && firstSwap <= reading) ? reading : null);
        }
      }
    }),
    { numRuns: 15 },
  );
});

test('the history of a pool begins at its reading, and the next event is its last change', async () => {
  const { database } = scratch;
  await database.query(sql`TRUNCATE pool_states, swaps, sync_ranges, pool_readings`);
  const none: BlockEvents = { swap: null, change: null };
  const blocks = Array.from({ length: HEAD + 1 }, (_, block) =>
    block === 20 ? { ...none, swap: { price: 2, liquidity: 600 } } : none,
  );
  await storeEvents(blocks, 5);
  await storeReading(PAIR, 10, { of: 'reserves', reserve0: 1n, reserve1: 1n });
  const at = async (block: number) =>
    (await readPoolHistories(database, eth, [poolOf(PAIR)], [placeAt(block, 5)]))[0]?.[0];
  const since = 1_700_000_000 + 10 * 12;
  expect(await at(9)).toBeUndefined();
  expect(await at(19)).toMatchObject({
    readAt: 10,
    createdAt: null,
    changedAt: { block: 10, since },
    depth: 'known',
  });
  expect(await at(24)).toMatchObject({ readAt: 10, createdAt: null, changedAt: { block: 20 } });
  // A gap between the reading and the block: the pool may have changed there.
  const places = [placeAt(19, 12), placeAt(19, 5)];
  const [withGap, without] = await readPoolHistories(database, eth, [poolOf(PAIR)], places);
  expect([withGap, without?.length]).toEqual([[], 1]);
});
