/**
 * Prices at random blocks and moments, direct ones and through a hop, while blocks are indexed in random order. A final one is that of the whole
 * chain, however early it is served.
 */
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf, atDepth, coverBlocks, createSeededRandom, type SeededRandom } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import {
  CATS,
  DOGS,
  eth,
  HEAD,
  resetAttackedChain,
  type State,
  seedAnswer,
  seedPool,
  seedToken,
  USDC,
  whole,
} from '../testing/attacked-chain.ts';
import { priceRoutesOf } from '../testing/price-routes-of.ts';
import { recomputePrice } from '../testing/recompute-price.ts';
import type { ShownTokenPrice } from './price-response.ts';

const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC));
const ETHER_FEED = eth.etherPrice.feed ?? undefined;
const DATASETS = ['pool-states', 'feed-answers', 'swaps'];
const PARTS = 8;
const WORLDS = atDepth(3);
/** 100 where the tier looks at all. */
const PLACES = Math.min(100, atDepth(240));
const PART_BLOCKS = Math.ceil((HEAD + 1) / PARTS);

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

interface Place {
  readonly token: Address;
  readonly block: number;
}

interface WorldPool {
  readonly pool: Hex;
  readonly tokens: readonly [Address, Address];
  readonly states: readonly State[];
}

/** A chain's pools and feed values, and the part of it that is indexed. */
interface World {
  readonly pools: readonly WorldPool[];
  readonly answers: readonly {
    readonly feed: PriceFeed | undefined;
    readonly block: number;
    readonly answer: string;
  }[];
  readonly unproven: Set<WorldPool>;
}

/** States at random blocks from the first one on. Each moves the price by a fifth at most. */
function statesFrom(random: SeededRandom, first: number, reserves: readonly [number, number]): State[] {
  const found: State[] = [];
  let [one, other] = reserves;
  for (let block = first; block <= HEAD; block += random.integer(3, 50)) {
    found.push([block, whole(one), whole(other)]);
    one = Math.max(1, Math.floor((one * random.integer(80, 125)) / 100));
    other = Math.max(1, Math.floor((other * random.integer(80, 125)) / 100));
  }
  return found;
}

function createWorld(random: SeededRandom): World {
  const poolOf = (place: number, tokens: readonly [Address, Address], reserves: readonly [number, number]) => {
    const states = statesFrom(random, place < 2 ? random.integer(1, 20) : random.integer(60, 190), reserves);
    return { pool: addressOf(0x9c0 + place), tokens, states };
  };
  return {
    pools: [
      poolOf(0, [DOGS, USDC], [100_000, 200_000]),
      poolOf(1, [CATS, DOGS], [1_000, 3_000]),
      poolOf(2, [DOGS, WETH], [20_000, 20]),
      poolOf(3, [CATS, USDC], [400, 2_400]),
      poolOf(4, [CATS, WETH], [900, 3]),
    ],
    answers: [
      ...[1, random.integer(40, 90), random.integer(100, 190)].map((block) => {
        return { feed: ETHER_FEED, block, answer: `${random.integer(1_900, 2_100)}00000000` };
      }),
      ...[2, random.integer(60, 160)].map((block) => {
        return { feed: DOLLAR_FEED, block, answer: `${random.integer(98, 102)}000000` };
      }),
    ],
    unproven: new Set(),
  };
}

/** Indexes some blocks. Pools that they show first wait for their proof. */
async function index(world: World, known: Set<WorldPool>, first: number, last: number): Promise<void> {
  const { database } = scratch;
  const isIn = (block: number) => first <= block && block <= last;
  for (const one of world.pools) {
    const states = one.states.filter(([block]) => isIn(block));
    if (states.length === 0) continue;
    if (!known.has(one)) {
      await seedPool(database, one.pool, [], { tokens: one.tokens, status: 'unproven' });
      known.add(one);
      world.unproven.add(one);
    }
    for (const [block, reserve0, reserve1] of states)
      await database.query(
        sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
         VALUES (address_key(${hexBytes(one.pool)}), ${eth.id}, ${block}, 0, 0, ${hexBytes(one.pool)}, ${String(reserve0)}, ${String(reserve1)})`,
      );
  }
  for (const { feed, block, answer } of world.answers.filter((one) => isIn(one.block)))
    await seedAnswer(database, feed, block, answer);
  for (const dataset of DATASETS) await coverBlocks(database, eth.id, dataset, first, last);
}

/** Proves the pools that wait, or some of them. */
async function prove(world: World, isProven: () => boolean): Promise<void> {
  for (const one of [...world.unproven].filter(isProven)) {
    await scratch.database.query(sql`UPDATE pools SET status = 'proven' WHERE pool = ${hexBytes(one.pool)}`);
    world.unproven.delete(one);
  }
}

async function ask({ token, block }: Place, wantsFinal: boolean): Promise<ShownTokenPrice | null> {
  const response = await api.request(
    `/api/v2.2/erc20/${token}/price?to_block=${block}&explain=true&final=${wantsFinal}`,
    { headers: { 'x-api-key': EXAMPLE_KEY } },
  );
  const body = (await response.json()) as ShownTokenPrice;
  if (response.status === 200) return body;
  // 400: the block is above the newest indexed one.
  expect([response.status, body]).toEqual([
    expect.toBeOneOf([400, 404]),
    expect.objectContaining({ message: expect.any(String) }),
  ]);
  return null;
}

const fractionOf = (price: ShownTokenPrice | null): readonly [bigint, bigint] | null => {
  const { price_numerator: numerator, price_denominator: denominator } = price?.explanation ?? {};
  return numerator === undefined || denominator === undefined ? null : [BigInt(numerator), BigInt(denominator)];
};

/** A price as text in lowest terms; null: none. */
function textOf(fraction: readonly [bigint, bigint] | null | undefined): string | null {
  if (fraction === null || fraction === undefined) return null;
  let [a, b] = fraction;
  while (b !== 0n) [a, b] = [b, a % b];
  return `${fraction[0] / a}/${fraction[1] / a}`;
}

const worlds = Array.from({ length: WORLDS }, (_, number) => number);

test.each(worlds)(
  'prices of world %i at random blocks and moments: a final one is that of the whole chain',
  async (number) => {
    const { database } = scratch;
    const seen = { early: 0, provisional: 0, through: 0, none: 0 };
    const random = createSeededRandom(number);
    const world = createWorld(random);
    await resetAttackedChain(database);
    await database.query(sql`TRUNCATE sync_ranges, feed_answers`);
    const known = new Set<WorldPool>();
    const places = Array.from({ length: PLACES }, (): Place => {
      return { token: random.pick([CATS, CATS, DOGS]), block: random.integer(20, HEAD) };
    });
    const served: { readonly place: Place; readonly usd: string; readonly isFinal: boolean }[] = [];
    const askSome = async (count: number): Promise<void> => {
      for (let asked = 0; asked < count; asked++) {
        const [place, wantsFinal] = [random.pick(places), random.integer(0, 1) === 1];
        const price = await ask(place, wantsFinal);
        const usd = textOf(fractionOf(price));
        if (usd === null) seen.none += 1;
        else served.push({ place, usd, isFinal: wantsFinal || price?.indexed.complete === true });
      }
    };
    const parts = Array.from({ length: PARTS }, (_, part) => ({ part, order: part === 0 ? 0.2 : random.next() }));
    for (const { part } of parts.toSorted((one, other) => one.order - other.order)) {
      await index(world, known, part * PART_BLOCKS, Math.min((part + 1) * PART_BLOCKS - 1, HEAD));
      await askSome(8);
      await prove(world, () => random.integer(0, 2) > 0);
      if (part === 3) await seedToken(database, WETH, 'WETH', 6);
      await askSome(14);
    }
    await prove(world, () => true);
    const finals = new Map<Place, string | null>();
    for (const place of places) {
      const price = await ask(place, false);
      expect(price === null || price.indexed.complete).toBe(true);
      const usd = textOf(fractionOf(price));
      if (price?.explanation !== undefined) expect(textOf(recomputePrice(price.explanation)?.price)).toBe(usd);
      if ((price?.explanation?.hops.length ?? 0) > 0) seen.through += 1;
      finals.set(place, usd);
    }
    for (const { place, usd, isFinal } of served) {
      seen[isFinal ? 'early' : 'provisional'] += 1;
      if (isFinal) expect({ number, ...place, usd }).toEqual({ number, ...place, usd: finals.get(place) });
    }
    // Without these, the test would show little.
    const { early, through, none } = seen;
    expect([seen, early > 10, through > 2, none > 10]).toEqual([seen, true, true, true]);
  },
);
