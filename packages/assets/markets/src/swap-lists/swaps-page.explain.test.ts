import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import {
  addressOf,
  createPartitions,
  type Explained,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  partitionsRead,
  rowsInto,
  rowsScanned,
  storeBlocks,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { extentStatement, newestCandles, newestSwaps } from '../candles/read-extent.ts';
import { poolSwapsStatement } from '../candles/read-swaps.ts';
import { priceSettingsOf } from '../pool-candles/compute-candles.ts';
import { type SwapsQuery, type SwapsSubject, swapsPage } from './swaps-page.ts';
import { cover, seedPools } from './testing/seeded-swaps.ts';

const eth = createChainRegistry().get('eth');
const LIMIT = 100;
const SWAPS = 60_000;
/** Swaps in the stale statistics. */
const ANALYZED = 2_000;
const CUT = 30_000;
/** A whole hour before the last swaps, in Unix seconds. */
const END = 1_600_596_000;
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const [PAIR, OTHER, FAKE, CATS, DOGS, TRADER] = [0x91, 0x92, 0x93, 0x71, 0x72, 0x51].map(addressOf) as [
  ReturnType<typeof addressOf>,
  ReturnType<typeof addressOf>,
  ReturnType<typeof addressOf>,
  ReturnType<typeof addressOf>,
  ReturnType<typeof addressOf>,
  ReturnType<typeof addressOf>,
];

const scratch = scratchOfFile({ autovacuum: false });

/** One swap a block: nine of ten in one pool; every second one by one trader, and of the rest a third for them. */
async function seedRange(first: number, last: number): Promise<void> {
  const bytes = (hex: string) => `'\\x${hex.slice(2)}'::bytea`;
  await scratch.database.query(
    sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet, beneficiary, transaction_hash)
     SELECT address_key(pool), ${rawSql(eth.id)}, number, 0, 0, 0, pool, token0, ${rawSql(bytes(WETH))}, CASE WHEN number % 3 = 0 THEN 5 ELSE -5 END, CASE WHEN number % 3 = 0 THEN -7 ELSE 7 END,
       CASE WHEN number % 2 = 0 THEN ${rawSql(bytes(TRADER))} ELSE ${rawSql(bytes(addressOf(0x52)))} END, CASE WHEN number % 6 = 1 THEN ${rawSql(bytes(TRADER))} END, sha256(number::text::bytea)
     FROM (SELECT number, CASE WHEN number % 10 = 0 THEN ${rawSql(bytes(OTHER))} ELSE ${rawSql(bytes(PAIR))} END AS pool,
         CASE WHEN number % 10 = 0 THEN ${rawSql(bytes(DOGS))} ELSE ${rawSql(bytes(CATS))} END AS token0 FROM generate_series(${first}::int, ${last}::int) AS number) AS numbered`,
  );
  await scratch.database.query(
    sql`INSERT INTO trades (pool_key, chain_id, block_number, transaction_index, log_index, token0_key, token1_key)
     SELECT pool_key, chain_id, block_number, transaction_index, log_index, address_key(token0), address_key(token1) FROM swaps
     WHERE block_number BETWEEN ${first} AND ${last}`,
  );
  await storeBlocks(scratch.database, eth.id, first, last);
}

beforeAll(async () => {
  const { database } = scratch;
  await createPartitions(database, 'swaps', eth.id, [CUT]);
  await seedPools(database, eth, [
    { pool: PAIR, tokens: [CATS, WETH] },
    { pool: OTHER, tokens: [DOGS, WETH] },
    { pool: FAKE, tokens: [CATS, WETH], status: 'disproved' },
  ]);
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, due_at) SELECT number, ${eth.id}, int4send(number) || ${hexBytes(`0x${'00'.repeat(16)}`)}, 'unproven', NULL FROM generate_series(1, 5000) AS number`,
  );
  await seedRange(1, ANALYZED);
  await database.query(sql`ANALYZE`);
  await seedRange(ANALYZED + 1, SWAPS);
  await cover(database, eth, 'swaps', SWAPS);
  await seedCandles();
});

/** Stores the last 3,000 hours until the end, for two pools. */
async function seedCandles(): Promise<void> {
  const hours = sql`generate_series(${END / 3_600 - 3_000}::int, ${END / 3_600 - 1}::int) AS hour`;
  await scratch.database.query(
    sql`INSERT INTO candle_spans (chain_id, hours, start, first_block, last_block, prices_from_block, settings, claim, is_stored)
     SELECT ${eth.id}, 1, hour, 0, 0, 0, ${priceSettingsOf(eth)}, gen_random_uuid(), true FROM ${hours}`,
  );
  await scratch.database.query(
    sql`INSERT INTO pool_candles (pool_key, chain_id, hours, start, pool, swaps, buys, sells, is_valued, is_quoted_in0, prices)
     SELECT address_key(pool), ${eth.id}, 1, hour, pool, 1, 1, 0, true, false, '' FROM ${hours}, unnest(${[PAIR, OTHER].map((pool) => hexBytes(pool))}::bytea[]) AS pool`,
  );
  // A row per hour: their statistics are never far behind.
  await scratch.database.query(sql`ANALYZE candle_spans, pool_candles`);
}

const explained = (plan: PlanKind, subject: SwapsSubject, query: Partial<SwapsQuery> = {}): Promise<Explained> =>
  explain(
    scratch.database,
    swapsPage(eth, {
      ...{ subject, types: [], order: 'DESC', limit: LIMIT, after: null },
      ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null, pinnedBlock: null },
      ...query,
    }).statement(),
    plan,
  );

const PAIR_SWAPS: SwapsSubject = { kind: 'pair', pool: PAIR };
const WALLET: SwapsSubject = { kind: 'wallet', wallet: TRADER, token: null };
const TOKEN: SwapsSubject = { kind: 'token', token: CATS };
const after = (block: number): Partial<SwapsQuery> => ({
  after: { block_number: block, transaction_index: 0, log_index: 0 },
  pinnedBlock: SWAPS,
});

const CASES: readonly (readonly [name: string, subject: SwapsSubject, query: Partial<SwapsQuery>])[] = [
  ['a busy pair', PAIR_SWAPS, {}],
  ['a busy pair, oldest first', PAIR_SWAPS, { order: 'ASC' }],
  ['a busy pair, far down', PAIR_SWAPS, after(500)],
  ['sales of a busy pair', PAIR_SWAPS, { types: ['sell'] }],
  ['a busy wallet', WALLET, {}],
  ['a busy wallet, oldest first', WALLET, { order: 'ASC' }],
  ['a busy wallet, far down', WALLET, after(500)],
  ['a busy wallet between blocks', WALLET, { fromBlock: 10_000, toBlock: 40_000 }],
  ['a busy wallet between blocks without its swaps', WALLET, { fromBlock: 40_000, toBlock: 39_999 }],
  // A block of the old statistics: with a later one, the planner expects no swap, and sorts all.
  ['the same, oldest first', WALLET, { fromBlock: 1_500, toBlock: 1_499, order: 'ASC' }],
  ['a wallet without swaps', { ...WALLET, wallet: addressOf(0x404) }, {}],
  ['a busy token', TOKEN, {}],
  ['a busy token, far down', TOKEN, after(500)],
  ['the wrapped native token', { kind: 'token', token: WETH }, {}],
];
const ofTables = (node: PlanNode): boolean => /^(swaps|trades)/.test(node['Relation Name'] ?? '');

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  beforeAll(() => prepare(scratch.database));
  // Without statistics of an expression, the planner sorts all swaps of a wallet. Autovacuum collects them soon.
  const isWithoutStatistics = plan === 'custom' && statistics === 'without statistics';
  const cases = CASES.filter(([, subject]) => subject.kind !== 'wallet' || !isWithoutStatistics);

  test.each(cases)('%s is a range of an index that stops after a page', async (_name, subject, query) => {
    const { nodes } = await explained(plan, subject, query);
    const scans = nodes.filter(ofTables);
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    // Two ranges of trades with their swaps, each a page; every third row of a pair is a sale.
    expect(rowsScanned(scans)).toBeLessThanOrEqual(5 * (LIMIT + 2));
    // A pool per swap, and a few that have no proof.
    const pools = nodes.filter((node) => node['Relation Name'] === 'pools');
    expect(rowsScanned(pools)).toBeLessThanOrEqual(5 * (LIMIT + 2));
    for (const sort of nodes.filter((node) => node['Node Type'].includes('Sort')))
      expect(rowsInto(sort)).toBeLessThanOrEqual(2 * (LIMIT + 2));
  });

  test('a page that one partition fills reads no other one', async () => {
    expect(partitionsRead(await explained(plan, PAIR_SWAPS), 'swaps')).toEqual([CUT]);
    expect(partitionsRead(await explained(plan, PAIR_SWAPS, after(500)), 'swaps')).toEqual([0]);
    if (!isWithoutStatistics) expect(partitionsRead(await explained(plan, WALLET), 'swaps')).toEqual([CUT]);
  });

  test('a part of the swaps of a candle is a range of an index that stops after the part', async () => {
    const toDate = new Date(1_600_600_000_000);
    for (const after of [null, { block: 40_000, transaction: 0, log: 0 }]) {
      const bounds = { fromDate: new Date(0), toDate, pinnedBlock: null };
      const statement = poolSwapsStatement(eth, { pool: PAIR, bounds, after, limit: LIMIT });
      const { nodes } = await explain(scratch.database, statement, plan);
      const scans = nodes.filter(ofTables);
      for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
      expect(rowsScanned(scans)).toBeLessThanOrEqual(LIMIT + 2);
    }
  });

  test.each([
    ['swaps', null],
    ['stored hours', 1],
  ] as const)('the first page of candles from %s stops after its newest rows', async (_name, width) => {
    const times = { from: 0, to: END };
    const bounds = { fromDate: new Date(0), toDate: new Date(1_000 * times.to), pinnedBlock: null };
    const query = { pool: PAIR, times, bounds, limit: LIMIT };
    const newest = width === null ? newestSwaps(eth, query) : newestCandles(eth, query, width);
    const { nodes } = await explain(scratch.database, extentStatement(eth, bounds, newest), plan);
    const swaps = nodes.filter(ofTables);
    for (const scan of swaps) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    expect(rowsScanned(swaps)).toBeLessThanOrEqual(width === null ? LIMIT + 2 : 0);
    const spans = nodes.filter((node) => node['Relation Name'] === 'candle_spans');
    // The first and the last one, and those of the page. Without statistics, any index of hours may be read.
    if (width === null || statistics === 'with old statistics')
      expect(rowsScanned(spans)).toBeLessThanOrEqual(4 + (width === null ? 0 : LIMIT));
    const candles = nodes.filter((node) => node['Relation Name'] === 'pool_candles');
    expect(rowsScanned(candles)).toBeLessThanOrEqual(width === null ? 0 : LIMIT);
    // Their times, and the steps to both dates.
    const blocks = nodes.filter((node) => node['Relation Name'] === 'blocks');
    expect(rowsScanned(blocks)).toBeLessThanOrEqual(LIMIT + 100);
  });

  test('a short time reads no earlier swaps and blocks', async () => {
    const [fromDate, toDate] = [new Date(1_600_599_880_000), new Date(1_600_600_000_000)];
    const bounds = { fromDate, toDate, pinnedBlock: null };
    const statement = poolSwapsStatement(eth, { pool: PAIR, bounds, after: null, limit: 10_000 });
    const { nodes } = await explain(scratch.database, statement, plan);
    // Eleven blocks.
    expect(rowsScanned(nodes.filter(ofTables))).toBeLessThanOrEqual(11);
    // Their times, and the steps to both dates.
    const blocks = nodes.filter((node) => node['Relation Name'] === 'blocks');
    expect(rowsScanned(blocks)).toBeLessThanOrEqual(100);
  });
});
