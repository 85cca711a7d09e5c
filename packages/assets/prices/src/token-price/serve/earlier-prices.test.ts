/** Prices now and 24 hours before, read together: as alone, also if their anchors differ, and each pool once. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { type ReadDatabase, type Sql, sql, statementOf } from '@chainstead/db';
import { poolKey } from '@chainstead/markets/requests';
import { addressOf, createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, expect, test } from 'vitest';
import { readPlaces } from '../place/price-place.ts';
import { DAY_SECONDS, readDirectPricesAt } from '../read/token-price.ts';
import { seedPool, seedToken, whole } from '../testing/attacked-chain.ts';
import { coverOnly, seedEtherChain, wethOf } from '../testing/ether-chain.ts';
import { createPriceReader } from './price-reader.ts';

const eth = createChainRegistry().get('eth');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const WETH = wethOf(eth);
const [CATS, DOGS, BIRDS] = [0x11, 0x22, 0x33].map(addressOf) as [Address, Address, Address];
const BIRDS_POOL = addressOf(0x9a3);
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators[0] ?? addressOf(0);
/** In base units of 18 decimals. */
const ether = (amount: number): bigint => BigInt(amount) * 10n ** 18n;

const scratch = scratchOfFile();

beforeEach(async () => {
  const { database } = scratch;
  await seedEtherChain(database, eth, ['pool-states', 'feed-answers', 'swaps']);
  await createPartitions(database, 'pool_states', eth.id);
  for (const token of [CATS, DOGS, BIRDS, USDC]) await seedToken(database, token, 'TOKEN', 6);
});

const seedDollar = () =>
  seedAnswers(
    scratch.database,
    eth,
    [1, 200].map((blockNumber) => ({
      ...{ aggregator: DOLLAR_FEED, blockNumber, answer: `${10n ** 8n}` },
      time: 1_700_000_000 + blockNumber * 300,
    })),
  );

test.each([
  ['may get known', () => coverOnly(scratch.database, eth, 'feed-answers', [200, 400])],
  [
    'is too old',
    () =>
      scratch.database.query(
        sql`UPDATE feed_answers SET updated_at = updated_at - interval '2 days' WHERE block_number = 1`,
      ),
  ],
])('are those of each alone if the price of ether before %s', async (_name, change) => {
  const { database } = scratch;
  await change();
  await seedDollar();
  const pools: readonly (readonly [tokens: readonly [Address, Address], reserves: readonly [bigint, bigint]])[] =
    [
      [
        [CATS, USDC],
        [whole(1_000), whole(3_000)],
      ],
      [
        [CATS, WETH],
        [whole(2_000), ether(3)],
      ],
      [
        [DOGS, WETH],
        [whole(1_000), ether(2)],
      ],
      [
        [BIRDS, DOGS],
        [whole(1_000), whole(1_000)],
      ],
      [
        [USDC, WETH],
        [whole(40_000), ether(20)],
      ],
    ];
  for (const [number, [tokens, [reserve0, reserve1]]] of pools.entries())
    await seedPool(
      database,
      addressOf(0x9b0 + number),
      [10, 110, 111, 398].map((block, index) => [block, reserve0 + BigInt(index), reserve1]),
      { tokens },
    );
  const { place, earlier } = await readPlaces(database, eth, { of: 'newest' }, 1_800, DAY_SECONDS);
  if (place === null || earlier === null) throw new Error('Both places are indexed');
  const read = (...places: Parameters<typeof readDirectPricesAt>[4]) =>
    readDirectPricesAt(
      ...([
        database,
        eth,
        [CATS, DOGS, BIRDS, WETH, USDC],
        { factories: null, rules: eth.pricing },
        places,
      ] as const),
    );
  const [[now], [before]] = [await read(place), await read(earlier)];
  expect(now?.get(WETH)?.of).toBe('anchor');
  expect(before?.get(WETH)?.of).not.toBe('anchor');
  expect(await read(place, earlier)).toEqual([now, before]);
  expect(await read(earlier, place)).toEqual([before, now]);
});

test('read a pool once, also if another token is priced through a hop', async () => {
  const { database } = scratch;
  await seedDollar();
  await seedPool(database, addressOf(0x9a1), [[2, whole(1_000), whole(3_000)]], { tokens: [CATS, DOGS] });
  await seedPool(database, addressOf(0x9a2), [[2, whole(60_000), whole(120_000)]], { tokens: [DOGS, USDC] });
  const ofBirds = [
    [2, whole(2_000), whole(2_000)],
    [300, whole(1_000), whole(4_000)],
  ] as const;
  await seedPool(database, BIRDS_POOL, ofBirds, { tokens: [BIRDS, USDC] });
  let reads = 0;
  const counted: ReadDatabase = {
    ...database,
    select: (statement: Sql) => {
      const { text, values } = statementOf(statement);
      const isOfBirds = values
        .flat()
        .map(String)
        .includes(String(poolKey(BIRDS_POOL)));
      if (isOfBirds && text.includes('FROM pool_states')) reads += 1;
      return database.select(statement);
    },
  };
  const { read } = createPriceReader({ reads: counted, database, contracts: null }, eth, {});
  const found = await read([CATS, BIRDS].map((token) => ({ token, exchange: null, toBlock: null })));
  const dollars = found.map((price) => 'price' in price && price.before);
  const asNumber = (price: (typeof dollars)[number]) =>
    price && Number(price.numerator) / Number(price.denominator);
  expect(dollars.map(asNumber)).toEqual([6, 1]);
  expect(reads).toBe(1);
});
