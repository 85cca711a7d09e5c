import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { FIRST_PAGE } from '@chainstead/pages/testing';
import {
  addressOf,
  createPartitions,
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  partitionsRead,
  planNodes,
  rowsScanned,
  timestampOf,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { type SeededTransfer, seedCoverage, seedTransfers } from '../testing/seeded-wallets.ts';
import { tokenStatsStatement } from '../token-stats/token-stats-route.ts';
import { type TokenTransfersQuery, tokenTransfersPage } from './token-transfers-route.ts';

// Seven of ten transfers are of the busy token; others have few, around the page size, and more.
const BLOCKS = 10_000;
const BUSY = addressOf(0xb05);
const LIMIT = 100;
/** Partition boundaries: six partitions. */
const CUTS = [1_500, 3_000, 5_000, 7_000, 9_000];
/** Blocks covered by old statistics. */
const ANALYZED = 200;
const MIDDLING = [3, 60, 130, 1_000, 5_000];
const middling = (rows: number): Address => addressOf(500_000 + rows);
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'erc20_transfer_sides', chain.id, CUTS);
  await seedTransfers(scratch.database, chain, seeded(0, ANALYZED));
  await scratch.database.query(sql`ANALYZE`);
  await seedTransfers(scratch.database, chain, [...seeded(ANALYZED, BLOCKS), ...middlingTransfers()]);
  await seedCoverage(scratch.database, chain, 0, BLOCKS - 1);
});

function* seeded(from: number, below: number): Generator<SeededTransfer> {
  for (let blockNumber = from; blockNumber < below; blockNumber++)
    for (let logIndex = 0; logIndex < 10; logIndex++)
      yield {
        from: addressOf(10_000 + ((blockNumber * 7_919 + logIndex) % 5_000)),
        to: addressOf(20_000 + ((blockNumber * 104_729 + logIndex) % 20_000)),
        token: logIndex < 7 ? BUSY : addressOf(101 + ((blockNumber * 31 + logIndex) % 300)),
        value: 5n,
        blockNumber,
        transactionIndex: logIndex >> 1,
        logIndex,
      };
}

function* middlingTransfers(): Generator<SeededTransfer> {
  for (const rows of MIDDLING)
    for (let index = 0; index < rows; index++)
      yield {
        from: addressOf(60),
        to: addressOf(61),
        token: middling(rows),
        value: 1n,
        blockNumber: ANALYZED + Math.floor((index * (BLOCKS - ANALYZED)) / rows),
        transactionIndex: rows,
        logIndex: 0,
      };
}

const explainPage = (plan: PlanKind, query: Partial<TokenTransfersQuery> = {}): Promise<Explained> =>
  explain(
    scratch.database,
    tokenTransfersPage(chain, {
      ...FIRST_PAGE,
      token: BUSY,
      limit: LIMIT,
      ...query,
    }).statement(),
    plan,
  );

const isOfTransfers = (node: PlanNode): boolean =>
  node['Relation Name']?.startsWith('erc20_transfer_sides_') === true;

const dateOf = (block: number): Date => new Date(timestampOf(block) * 1000);
const FAR_DOWN = { after: { block: 714, transaction: 1, log: 2 }, pinnedBlock: BLOCKS };
const QUERIES: readonly (readonly [string, Partial<TokenTransfersQuery>])[] = [
  ['the first page', {}],
  ['a page far down', FAR_DOWN],
  ['the first page, ascending', { order: 'ASC' }],
  ['block bounds', { fromBlock: 2_000, toBlock: 8_000 }],
  ['block bounds, ascending', { fromBlock: 2_000, toBlock: 8_000, order: 'ASC' }],
  ['date bounds', { fromDate: dateOf(100), toDate: dateOf(6_000) }],
  ['the oldest days, ascending', { toDate: dateOf(300), order: 'ASC' }],
  ...MIDDLING.map((rows) => [`a token of ${rows} transfers`, { token: middling(rows) }] as const),
  ['a token without transfers', { token: addressOf(3) }],
];

// The API uses generic plans. Custom plans, for a database behind a pooler, need statistics to recognize a busy token.
const KNOWING = PLANS.filter(
  ({ plan, statistics }) => plan === 'generic' || statistics === 'with fresh statistics',
);

describe.each(KNOWING)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  beforeAll(() => prepare(scratch.database));

  test.each(QUERIES)(
    '%s is a range scan of the index of contracts that stops after a page',
    async (_name, query) => {
      const { nodes } = await explainPage(plan, query);
      const scans = nodes.filter(isOfTransfers);
      // A first page also reads its run's newest block.
      expect(scans.length).toBeGreaterThanOrEqual(query.after ? 1 : 2);
      for (const scan of scans)
        expect(scan['Node Type']).toMatch(/^(Index Scan|Index Only Scan|Bitmap Heap Scan)$/);
      expect(rowsScanned(scans)).toBeLessThanOrEqual(1.4 * (LIMIT + 1));
      for (const scan of scans.filter((node) => node['Node Type'].startsWith('Index')))
        expect(scan['Index Cond']).toMatch(/get_byte/);
    },
  );

  test('of a busy token no more than a block is sorted: its partitions are read one after the other', async () => {
    for (const query of [{}, { order: 'ASC' }, FAR_DOWN, { fromBlock: 2_000, toBlock: 8_000 }] as const) {
      const { nodes } = await explainPage(plan, query);
      const over = nodes.filter((node) => planNodes(node).some(isOfTransfers)).map((node) => node['Node Type']);
      expect(over.filter((type) => /Sort|Merge Append|Bitmap/.test(type))).toEqual(['Incremental Sort']);
    }
  });

  test('a page that one partition fills reads no other one, and bounds exclude those beyond them', async () => {
    const readOf = async (query: Partial<TokenTransfersQuery>) =>
      partitionsRead(await explainPage(plan, query), 'erc20_transfer_sides');
    expect(await readOf({})).toEqual([9_000]);
    expect(await readOf({ order: 'ASC' })).toEqual([0, 9_000]);
    expect(await readOf({ ...FAR_DOWN, after: { block: 4_000, transaction: 1, log: 2 } })).toEqual([3_000]);
    expect(await readOf({ token: middling(3), fromBlock: 5_100 })).toEqual([5_000, 7_000, 9_000]);
  });

  test.runIf(statistics !== 'without statistics')('counting is a range of the same index', async () => {
    for (const token of [BUSY, middling(130)]) {
      const { nodes } = await explain(
        scratch.database,
        tokenStatsStatement(chain, token, { countMax: 5_000, isCounted: true }),
        plan,
      );
      const scans = nodes.filter(isOfTransfers);
      expect(scans.length).toBeGreaterThan(0);
      for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
      // A bitmap covers a whole partition.
      expect(rowsScanned(scans)).toBeLessThanOrEqual(5_001 + 14_000);
    }
  });
});
