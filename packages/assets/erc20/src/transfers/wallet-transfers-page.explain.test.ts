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
import { stepsStatement, WALK_MAX } from '../balances/balances-around.ts';
import { type SeededTransfer, seedCoverage, seedTransfers } from './testing/seeded-wallets.ts';
import {
  COUNT_MAX,
  type NftRows,
  type WalletTransfersQuery,
  walletTransfersPage,
} from './wallet-transfers-page.ts';

// 150,000 transfers are 300,000 rows. Seven of ten involve the busy wallet; three of its transfers are of one token.
const BLOCKS = 15_000;
const TRANSFERS_A_BLOCK = 10;
const BUSY_OF_TEN = 7;
const BUSY = addressOf(1);
const RARE_TOKEN = addressOf(999);
const COMMON_TOKENS = 50;
const LIMIT = 100;
/** Partition boundaries: six partitions. */
const CUTS = [2_500, 5_000, 7_500, 10_000, 12_500];
/** Blocks covered by old statistics. */
const ANALYZED = 300;
const chain = exampleChain();
/**
 * Row counts of medium wallets, around the page size and far above: in between, the planner chooses a bitmap depending
 * on its sample.
 */
const MIDDLING = [5, 60, 130, 1_000, 5_000];
const middling = (rows: number): Address => addressOf(500_000 + rows);

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'erc20_transfer_sides', chain.id, CUTS);
  await seedTransfers(scratch.database, chain, seededTransfers(0, ANALYZED));
  await scratch.database.query(sql`ANALYZE`);
  await seedTransfers(scratch.database, chain, [...seededTransfers(ANALYZED, BLOCKS), ...middlingTransfers()]);
  await seedCoverage(scratch.database, chain, 0, BLOCKS - 1);
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, name, symbol, decimals, facts_status)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), 1, CASE number % 10 WHEN 0 THEN 'erc721' ELSE 'erc20' END, 'Name', 'SYM', 18, 'known'
     FROM generate_series(100, 2000) AS number`,
  );
  await scratch.database.query(
    sql`INSERT INTO address_labels (address, chain_id, source, label)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), 0, 'list', 'Name' FROM generate_series(20000, 39999) AS number`,
  );
});

function* seededTransfers(from: number, below: number): Generator<SeededTransfer> {
  let state = 12_345;
  const pick = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  for (let blockNumber = from; blockNumber < below; blockNumber++)
    for (let logIndex = 0; logIndex < TRANSFERS_A_BLOCK; logIndex++) {
      const rare = logIndex === 0 && blockNumber % 5_000 === 77;
      yield {
        from: logIndex < BUSY_OF_TEN ? BUSY : addressOf(10_000 + pick(5_000)),
        to: addressOf(20_000 + pick(20_000)),
        token: rare ? RARE_TOKEN : addressOf(101 + pick(COMMON_TOKENS)),
        value: 5n,
        blockNumber,
        transactionIndex: logIndex >> 1,
        logIndex,
      };
    }
}

function* middlingTransfers(): Generator<SeededTransfer> {
  for (const rows of MIDDLING)
    for (let index = 0; index < rows; index++)
      yield {
        from: middling(rows),
        to: addressOf(60),
        token: addressOf(101),
        value: 1n,
        blockNumber: ANALYZED + Math.floor((index * (BLOCKS - ANALYZED)) / rows),
        transactionIndex: rows,
        logIndex: 0,
      };
}

const explainPage = (
  plan: PlanKind,
  query: Partial<WalletTransfersQuery> = {},
  nfts: NftRows = 'shown',
): Promise<Explained> =>
  explain(
    scratch.database,
    walletTransfersPage(
      chain,
      {
        ...FIRST_PAGE,
        address: BUSY,
        limit: LIMIT,
        tokens: null,
        count: false,
        ...query,
      },
      nfts,
    ).statement(),
    plan,
  );

/** Rows returned to a node over all its executions. */
function rowsInto(node: PlanNode): number {
  const inputs = (node.Plans ?? []).filter((child) => child['Parent Relationship'] === 'Outer');
  const rows = inputs.reduce((sum, child) => sum + child['Actual Rows'] * child['Actual Loops'], 0);
  return rows / Math.max(1, node['Actual Loops']);
}

const isOfTransfers = (node: PlanNode): boolean =>
  node['Relation Name']?.startsWith('erc20_transfer_sides_') === true;

/** Scans of `erc20_transfer_sides_by_token`, whose name differs per partition. */
const isByToken = (node: PlanNode): boolean => node['Index Cond']?.includes('get_byte') === true;

function pagesOfTransfers({ nodes }: Explained): number {
  return nodes
    .filter(isOfTransfers)
    .reduce((sum, node) => sum + node['Shared Hit Blocks'] + node['Shared Read Blocks'], 0);
}

const QUERIES: readonly (readonly [string, Partial<WalletTransfersQuery>])[] = [
  ['the first page', {}],
  ['page 1,000', { after: { block: 714, transaction: 1, log: 2 }, pinnedBlock: BLOCKS }],
  ['the first page, ascending', { order: 'ASC' }],
  ['the last pages, ascending', { order: 'ASC', after: { block: 14_990, transaction: 1, log: 2 } }],
  ['block bounds', { fromBlock: 5_000, toBlock: 9_000 }],
  ['block bounds, ascending', { fromBlock: 5_000, toBlock: 9_000, order: 'ASC' }],
  [
    'date bounds',
    { fromDate: new Date(timestampOf(100) * 1000), toDate: new Date(timestampOf(5_000) * 1000 + 5_000) },
  ],
  [
    'date bounds, ascending',
    { fromDate: new Date(timestampOf(100) * 1000), toDate: new Date(timestampOf(5_000) * 1000), order: 'ASC' },
  ],
  ['a lower bound alone', { fromBlock: 5_000 }],
  ['a lower date alone', { fromDate: new Date(timestampOf(5_000) * 1000) }],
  [
    'a lower date alone, of a middling wallet',
    { address: middling(5_000), fromDate: new Date(timestampOf(9_000) * 1000) },
  ],
  ['the oldest days, ascending', { toDate: new Date(timestampOf(300) * 1000), order: 'ASC' }],
  ['the oldest days', { toDate: new Date(timestampOf(300) * 1000) }],
  ['a rare token', { tokens: [RARE_TOKEN] }],
  ['a common token', { tokens: [addressOf(101)] }],
  ['a rare token with dates', { tokens: [RARE_TOKEN], fromDate: new Date(timestampOf(100) * 1000) }],
  ...MIDDLING.map((rows) => [`a wallet of ${rows} rows`, { address: middling(rows) }] as const),
  ['a wallet without rows', { address: addressOf(3) }],
];

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  // Without statistics, the key's index looks as good for a token as its own: so in a partition's first minute, before
  // autovacuum runs.
  const isKnown = statistics !== 'without statistics';
  const queries = QUERIES.filter(([, { tokens = null }]) => tokens === null || isKnown);

  beforeAll(() => prepare(scratch.database));

  // With bound values, the planner sorts rows that it expects to be fewer than the walk: in partitions that autovacuum has not seen yet.
  test.skipIf(!isKnown || (plan === 'custom' && statistics === 'with old statistics'))(
    'a walk along the transfers of a holding is a range of the index by token that stops',
    async () => {
      const walkOf = (token: Address, order: 'ASC' | 'DESC') => ({
        ...{ account: BUSY, token, order, known: 0n, after: -1, to: BLOCKS },
      });
      const walks = [addressOf(101), RARE_TOKEN].flatMap((token) => [
        walkOf(token, 'ASC'),
        walkOf(token, 'DESC'),
      ]);
      for (const isSpread of [false, true]) {
        const { nodes, text } = await explain(scratch.database, stepsStatement(chain, walks, isSpread), plan);
        const scans = nodes.filter((node) => node['Relation Name']?.startsWith('erc20_transfer_sides'));
        for (const scan of scans) expect(scan['Node Type'], text).toMatch(/^(Index|Bitmap Heap)/);
        expect(rowsScanned(scans), text).toBeLessThanOrEqual(2 * (WALK_MAX + 1) + 2 * 3);
      }
    },
  );

  test.each(
    (['shown', 'left out'] as const).flatMap((nfts) =>
      queries.map(([name, query]) => [name, nfts, query] as const),
    ),
  )('%s is a range scan of an index that stops after a page, NFTs %s', async (_name, nfts, query) => {
    const { nodes, text } = await explainPage(plan, query, nfts);
    const scans = nodes.filter((node) => isOfTransfers(node) || node['Node Type'] === 'Bitmap Index Scan');
    // A later page may be in one partition.
    const isFirst = query.after === undefined;
    expect(scans.length).toBeGreaterThanOrEqual(isFirst ? 2 : 1);
    // A bitmap is also a range scan; the planner uses it for wallets that fit on a page.
    for (const scan of scans)
      expect(scan['Node Type']).toMatch(/^(Index Scan|Index Only Scan|Bitmap Heap Scan|Bitmap Index Scan)$/);
    // Over all partitions, including rows that turned out to belong to another account or token.
    expect(rowsScanned(scans.filter(isOfTransfers))).toBeLessThanOrEqual(1.4 * (LIMIT + 1));
    for (const scan of scans.filter((node) => node['Node Type'].startsWith('Index')))
      expect(scan['Index Cond']).toMatch(/account_key = /);
    if (isFirst) expect(nodes.map((node) => node['Node Type'])).toContain('Append');
    for (const sort of nodes.filter((node) => node['Node Type'].includes('Sort')))
      expect(rowsInto(sort)).toBeLessThanOrEqual(1.4 * (LIMIT + 1));
    expect(text).not.toMatch(/\bOR\b/);
  });

  test('page 1,000 touches as little of the transfers as page 1', async () => {
    const first = await explainPage(plan);
    const thousandth = await explainPage(plan, {
      after: { block: 714, transaction: 1, log: 2 },
      pinnedBlock: BLOCKS,
    });
    expect(pagesOfTransfers(thousandth)).toBeLessThanOrEqual(pagesOfTransfers(first) * 1.2);
  });

  test('labels are looked up by the addresses of the page', async () => {
    const { nodes } = await explainPage(plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'address_labels');
    expect(scans.map((node) => node['Node Type'])).toEqual([
      expect.stringMatching(/^(Index Scan|Bitmap Heap Scan)$/),
    ]);
    expect(scans[0]?.['Actual Rows']).toBeGreaterThan(10);
    expect(scans[0]?.['Actual Rows']).toBeLessThanOrEqual(LIMIT + 2);
  });

  test('blocks are looked up by those of the page', async () => {
    const { nodes } = await explainPage(plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'blocks');
    expect(scans.map((node) => node['Node Type'])).toEqual([
      expect.stringMatching(/^(Index Scan|Bitmap Heap Scan)$/),
    ]);
    expect(scans[0]?.['Actual Rows']).toBeLessThanOrEqual(LIMIT + 1);
  });

  test.runIf(isKnown)(
    'a token with three rows in the busy wallet costs less than a page, without reading the rows around it',
    async () => {
      const { nodes, buffers } = await explainPage(plan, { tokens: [RARE_TOKEN] });
      expect(rowsScanned(nodes.filter(isByToken))).toBe(3);
      expect(buffers).toBeLessThan(60);
      expect(buffers).toBeLessThan((await explainPage(plan)).buffers);
    },
  );

  test.runIf(isKnown)('a hundred tokens are a hundred short range scans, merged', async () => {
    const tokens = Array.from({ length: 100 }, (_unused, index) => addressOf(101 + index));
    const { nodes } = await explainPage(plan, { tokens });
    const scans = nodes.filter(isByToken);
    expect([...new Set(scans.map((node) => node['Node Type']))]).toEqual(['Index Scan']);
    expect(scans.length).toBe(CUTS.length + 1);
    // Each scan runs once per token.
    expect(scans.reduce((sum, scan) => sum + scan['Actual Rows'], 0)).toBeLessThanOrEqual(LIMIT + 1);
  });

  test('counting stops at its maximum', async () => {
    const { nodes } = await explainPage(plan, { count: true });
    const scans = nodes.filter(isOfTransfers);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(1.2 * (COUNT_MAX + 1));
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^Index/);
  });

  test('a busy wallet is never sorted: its partitions are read one after the other', async () => {
    const bounds = { fromBlock: 5_000, toBlock: 9_000 };
    const cases = [
      [{}, 1],
      [{ order: 'ASC' }, 2],
      [{ count: true }, 2],
      [bounds, 1],
    ] as const;
    for (const [query, appends] of cases) {
      const { nodes } = await explainPage(plan, query);
      const overTransfers = nodes
        .filter((node) => planNodes(node).some(isOfTransfers))
        .map((node) => node['Node Type']);
      expect(overTransfers.filter((type) => /Sort|Merge Append|Bitmap/.test(type))).toEqual([]);
      const appended = nodes.filter((node) => node['Node Type'] === 'Append');
      expect(appended.length).toBe(appends);
    }
  });

  test('a page that one partition fills reads no other one, and bounds exclude those beyond them', async () => {
    const readOf = async (query: Partial<WalletTransfersQuery>) =>
      partitionsRead(await explainPage(plan, query), 'erc20_transfer_sides');
    expect(await readOf({})).toEqual([12_500]);
    expect(await readOf({ order: 'ASC' })).toEqual([0, 12_500]);
    expect(await readOf({ after: { block: 6_000, transaction: 1, log: 2 } })).toEqual([5_000]);
    // If a page isn't full, all partitions within its bounds are read; for an ascending one, also the newest partition.
    const few = { address: middling(5) };
    const dates = { fromDate: new Date(timestampOf(5_100) * 1000), toDate: new Date(timestampOf(9_000) * 1000) };
    expect(await readOf(few)).toEqual([0, ...CUTS]);
    expect(await readOf({ ...few, fromBlock: 5_100 })).toEqual([5_000, 7_500, 10_000, 12_500]);
    expect(await readOf({ ...few, ...dates, toDate: null })).toEqual([5_000, 7_500, 10_000, 12_500]);
    const ofToken = { ...few, tokens: [addressOf(101)] };
    expect(await readOf({ ...ofToken, fromBlock: 5_100 })).toEqual([5_000, 7_500, 10_000, 12_500]);
    expect(await readOf({ ...few, toBlock: 4_000, order: 'ASC' })).toEqual([0, 2_500, 12_500]);
    // With bounds on both sides, only the partitions after the start of the page are read.
    expect(await readOf({ ...few, fromBlock: 5_100, toBlock: 9_000 })).toEqual([0, 2_500, 5_000, 7_500]);
    expect(await readOf({ ...few, ...dates })).toEqual([0, 2_500, 5_000, 7_500]);
  });
});
