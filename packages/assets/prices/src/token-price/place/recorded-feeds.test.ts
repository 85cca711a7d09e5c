/**
 * Prices of POL and ether from pools alone, compared with their Chainlink feeds in 66 recorded blocks of Polygon. Blocks before them are
 * unknown, so a pool counts from its first event. Recorded blocks hold no balances: for concentrated pools, the virtual reserves of their
 * state are stored, as if they were pools with reserves. Their depth is thus too large, their price is exact.
 */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, decimalFraction, type Fraction, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { poolStates, swaps } from '@chainstead/markets/datasets';
import { exchangesOf } from '@chainstead/markets/requests';
import { isProvenByAddress, proveStoredPools, recordedBlock, storeRows } from '@chainstead/markets/testing';
import { coverBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { feedAnswers } from '@chainstead/tokens/price-feeds/datasets';
import { beforeAll, describe, expect, test } from 'vitest';
import { readTokenPrices } from '../read/read-hop-prices.ts';
import { readPlace } from './price-place.ts';

const [FIRST, LAST] = [35_779_967, 35_780_032];
const { isMissing, title } = recordedData('data/evm');
const polygon = createChainRegistry().get('polygon');
const WPOL = parseAddress('0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270');
const WETH = parseAddress('0x7ceb23fd6bc0add59e62ac25578270cff1b9f619');
/** Aggregators of that time, identified by their values. */
const POL_AGGREGATOR = parseAddress('0x1278c74c3b2f8c3bca0089b4e128faf023615ecf');
const ETHER_AGGREGATOR = parseAddress('0x4dd6655ad5ed7c06c882f496e3f42ace5766cb89');
const DECIMALS: readonly (readonly [Address, number])[] = [
  [WPOL, 18],
  [WETH, 18],
  [parseAddress('0x2791bca1f2de4661ed88a30c99a7a9449aa84174'), 6],
  [parseAddress('0xc2132d05d31c914a87c6611c10748aeb04b58e8f'), 6],
  [parseAddress('0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'), 18],
];

const feedOf = (aggregator: Address) => ({ proxy: aggregator, decimals: 8, aggregators: [aggregator] });
/** Polygon with one of the two feeds. The dollar tokens count as 1. The recorded blocks are shorter than the time for which a price must hold. */
const withFeeds = (feeds: Pick<Chain, 'etherPrice' | 'tokenFeeds'>): Chain => ({
  ...{ ...polygon, ...feeds, swaps: 'all', pricing: { ...polygon.pricing, holdSeconds: 0 } },
});
const WITHOUT_POL = withFeeds({ etherPrice: { feed: feedOf(ETHER_AGGREGATOR), pools: [] }, tokenFeeds: [] });
const WITHOUT_ETHER = withFeeds({
  etherPrice: { feed: null, pools: [] },
  tokenFeeds: [{ ...feedOf(POL_AGGREGATOR), tokens: [ZERO_ADDRESS] }],
});
/** Families with reserves. The last factory has no pools in these blocks, and stands for concentrated exchanges. */
const FACTORIES = exchangesOf(polygon)
  .all.filter(({ exchange }) => exchange.family.name === 'v2')
  .map(({ deployment }) => deployment.factory);
const [RESERVES_ONLY, STAND_IN = ZERO_ADDRESS] = [FACTORIES.slice(0, -1), FACTORIES.at(-1)];

interface Update {
  readonly block: number;
  readonly answer: number;
}

describe.skipIf(isMissing)(title('prices from recorded pools'), () => {
  const scratch = scratchOfFile();
  const updates = new Map<Address, readonly Update[]>();
  let counts = { answers: 0, swaps: 0, proven: 0, ofStandIn: 0 };

  beforeAll(async () => {
    const { database } = scratch;
    const numbers = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);
    const blocks = await Promise.all(numbers.map((number) => recordedBlock(number, 'polygon')));
    const times = new Map(blocks.map(({ header }) => [header.number, Number(header.raw.timestamp)]));
    const context = { chain: WITHOUT_POL, timestampOf: (block: number) => times.get(block) ?? 0 };
    const logs = numbers.flatMap((number) => readRecordedLogs(`polygon/${number}`));
    const all = blocks.flatMap((block) => swaps.wholeBlocks?.decode(block, context) ?? []);
    const proven = all.filter((row) => isProvenByAddress(row, polygon));
    await storeRows(database, polygon, swaps, proven);
    await proveStoredPools(database, polygon);
    await storeRows(database, polygon, poolStates, poolStates.decode(logs, context).map(withReserves));
    const concentrated = poolStates.decode(logs, context).filter(({ sqrtPriceX96 }) => sqrtPriceX96 !== null);
    const moved = concentrated.map(({ pool }) => hexBytes(pool));
    const before = await database.query(sql`SELECT FROM pools WHERE factory = ${hexBytes(STAND_IN)}`);
    await database.query(sql`UPDATE pools SET factory = ${hexBytes(STAND_IN)} WHERE pool = ANY (${moved})`);
    const answers = feedAnswers.decode(logs, context);
    await storeRows(database, polygon, feedAnswers, answers);
    counts = { answers: answers.length, swaps: all.length, proven: proven.length, ofStandIn: before.length };
    for (const aggregator of [POL_AGGREGATOR, ETHER_AGGREGATOR]) {
      const own = answers.filter((row) => row.aggregator === aggregator);
      const last = new Map(own.map(({ blockNumber, answer }) => [blockNumber, Number(answer)]));
      const values = [...last].map(([block, answer]) => ({ block, answer }));
      updates.set(
        aggregator,
        values.filter(({ answer }, index) => answer !== values[index - 1]?.answer),
      );
    }
    for (const [number, time] of times)
      await database.query(
        sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${polygon.id}, ${number}, sha256(${Buffer.from(String(number))}), to_timestamp(${time}::float8))
         ON CONFLICT DO NOTHING`,
      );
    for (const dataset of ['pool-states', 'feed-answers'])
      await coverBlocks(database, polygon.id, dataset, FIRST, LAST);
    for (const [token, decimals] of DECIMALS)
      await database.query(
        sql`INSERT INTO tokens (address, chain_id, decimals, facts_status) VALUES (${hexBytes(token)}, ${polygon.id}, ${decimals}, 'known')
         ON CONFLICT (address, chain_id) DO UPDATE SET decimals = excluded.decimals`,
      );
  });

  /** Basis points between the price from pools and the feed, at each block where the feed changed. Blocks without a price are left out. */
  async function deviations(
    chain: Chain,
    token: Address,
    aggregator: Address,
    factories: readonly Address[],
  ): Promise<readonly number[]> {
    const found: number[] = [];
    for (const { block, answer } of updates.get(aggregator) ?? []) {
      const { windowSeconds } = chain.pricing;
      const { place } = await readPlace(scratch.database, chain, { of: 'block', block }, windowSeconds);
      if (place === null) throw new RangeError(`Block ${block} is indexed`);
      const conditions = { factories, rules: chain.pricing };
      const price = (await readTokenPrices(scratch.database, chain, [token], conditions, place)).get(token);
      if (price?.of === 'pools') found.push(Math.abs(basisPoints(price.usd, answer / 1e8)));
    }
    return found.toSorted((left, right) => left - right);
  }

  test('come from all rows of the blocks', () => {
    expect(counts).toEqual({ answers: 959, swaps: 344, proven: 264, ofStandIn: 0 });
    expect([POL_AGGREGATOR, ETHER_AGGREGATOR].map((one) => updates.get(one)?.length)).toEqual([12, 14]);
  });

  // Bounds are the figures of docs/concepts/prices.md, rounded up to half a basis point.
  test.each([
    ['POL, all pools', WITHOUT_POL, WPOL, POL_AGGREGATOR, FACTORIES, { prices: 12, median: 3, worst: 4.5 }],
    ['ether, all pools', WITHOUT_ETHER, WETH, ETHER_AGGREGATOR, FACTORIES, { prices: 14, median: 1.5, worst: 3 }],
    [
      'POL, pools with reserves',
      WITHOUT_POL,
      WPOL,
      POL_AGGREGATOR,
      RESERVES_ONLY,
      { prices: 11, median: 6.5, worst: 11 },
    ],
    [
      'ether, pools with reserves',
      WITHOUT_ETHER,
      WETH,
      ETHER_AGGREGATOR,
      RESERVES_ONLY,
      { prices: 14, median: 11.5, worst: 25.5 },
    ],
  ])('are near the feed: %s', async (_, chain, token, aggregator, factories, { prices, median, worst }) => {
    const found = await deviations(chain, token, aggregator, factories);
    expect(found).toHaveLength(prices);
    expect(medianOf(found)).toBeLessThanOrEqual(median);
    expect(medianOf(found)).toBeGreaterThan(median - 0.5);
    expect(found.at(-1)).toBeLessThanOrEqual(worst);
    expect(found.at(-1)).toBeGreaterThan(worst - 0.5);
  });
});

type StateRow = ReturnType<typeof poolStates.decode>[number];

/** The virtual reserves of a concentrated pool: liquidity / √price of token 0, and liquidity · √price of token 1. */
function withReserves(row: StateRow): StateRow {
  if (row.sqrtPriceX96 === null || row.liquidity === null) return row;
  const [root, liquidity] = [BigInt(row.sqrtPriceX96), BigInt(row.liquidity)];
  const reserves = [(liquidity * Q96) / root, (liquidity * root) / Q96];
  const [reserve0 = null, reserve1 = null] = reserves.map(String);
  return { ...row, tick: null, sqrtPriceX96: null, liquidity: null, reserve0, reserve1 };
}

const Q96 = 2n ** 96n;

function basisPoints(price: Fraction, feed: number): number {
  return (Number(decimalFraction(price, 17)) / feed - 1) * 10_000;
}

/** The median of sorted numbers. */
function medianOf(sorted: readonly number[]): number {
  const [low = Number.NaN, high = Number.NaN] = [(sorted.length - 1) >> 1, sorted.length >> 1].map(
    (at) => sorted[at],
  );
  return (low + high) / 2;
}
