import { FIRST_PAGE } from '@chainstead/pages/testing';
import {
  addressOf,
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  partitionsRead,
  planNodes,
  rowsInto,
  rowsScanned,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  MANY_SALES,
  MANY_SALES_STEP_SECONDS,
  RARE_MARKETPLACE,
  seedManyTrades,
  WASH_TRADER,
} from './testing/many-trades.ts';
import { COLLECTION, SELLER } from './testing/seeded-trades.ts';
import { type NftTradesQuery, type NftTradesSubject, tradesPage } from './trades-page.ts';

const chain = exampleChain();
const LIMIT = 100;
const END = 1_700_000_000;
/** Block numbers that separate the five partitions. */
const CUTS = [20_000, 40_000, 60_000, 80_000];
const dateOf = (block: number): Date => new Date((END - (MANY_SALES - block) * MANY_SALES_STEP_SECONDS) * 1000);

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await seedManyTrades(scratch.database, chain, END, CUTS);
});

const TOKEN: NftTradesSubject = { kind: 'token', token: COLLECTION, tokenId: '1' };
const ALL: NftTradesSubject = { kind: 'collection', token: COLLECTION, marketplace: null };
const market = (marketplace: string): NftTradesSubject => ({
  kind: 'collection',
  token: COLLECTION,
  marketplace,
});
const wallet = (address: typeof SELLER): NftTradesSubject => ({ kind: 'wallet', wallet: address });

const explained = (
  plan: PlanKind,
  subject: NftTradesSubject,
  query: Partial<NftTradesQuery> = {},
): Promise<Explained> =>
  explain(
    scratch.database,
    tradesPage(chain, {
      ...FIRST_PAGE,
      subject,
      limit: LIMIT,
      metadata: true,
      ...query,
    }).statement(),
    plan,
  );

const after = (blockNumber: number): Partial<NftTradesQuery> => ({
  after: { block: blockNumber, transaction: 0, log: 0, item: 0, token: COLLECTION },
  pinnedBlock: MANY_SALES,
});

type Case = readonly [name: string, subject: NftTradesSubject, query: Partial<NftTradesQuery>];

/** Found by a separate index in addition to the collection index. */
const OF_A_PART: readonly Case[] = [
  ['a token', TOKEN, {}],
  ['a token, far down', TOKEN, after(500)],
  ['a token between blocks', TOKEN, { fromBlock: 10_000, toBlock: 60_000 }],
  ['a token between dates', TOKEN, { fromDate: dateOf(10_000), toDate: dateOf(50_000) }],
  ['a token in its last days', TOKEN, { fromDate: dateOf(99_000) }],
  ['a token of two trades a block', { ...TOKEN, tokenId: '11' }, {}],
  ['a token without trades', { ...TOKEN, tokenId: '999' }, {}],
  ['a collection on a marketplace', market('opensea'), {}],
  ['a collection on a rare marketplace', market(RARE_MARKETPLACE), {}],
  ['a collection on no marketplace', market('x2y2'), {}],
  ['a collection on a marketplace, far down', market('blur'), after(500)],
];

const OF_COLLECTIONS: readonly Case[] = [
  ['a collection', ALL, {}],
  ['a collection, far down', ALL, after(30_000)],
  ['a collection between blocks', ALL, { fromBlock: 5_000, toBlock: 70_000 }],
  ['a collection from a block on', ALL, { fromBlock: 99_950 }],
  ['a collection without trades', { ...ALL, token: addressOf(404) }, {}],
];

const OF_WALLETS: readonly Case[] = [
  ['a busy wallet', wallet(SELLER), {}],
  ['a busy wallet, far down', wallet(SELLER), after(500)],
  ['a busy wallet between dates', wallet(SELLER), { fromDate: dateOf(10_000), toDate: dateOf(50_000) }],
  ['a wallet that trades with itself', wallet(WASH_TRADER), {}],
  ['a wallet without trades', wallet(addressOf(404)), {}],
];

/** With more trades than a sort may read. */
const BUSY = new Set(['a collection', 'a collection between blocks', 'a busy wallet']);

const isOfTrades = (node: PlanNode): boolean => node['Relation Name']?.startsWith('nft_trades_') === true;
const scansOf = ({ nodes }: Explained): PlanNode[] => nodes.filter(isOfTrades);

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  // Without statistics, the key's index looks as good as the right one, as in a partition's first minute before
  // autovacuum. The custom plan, which the API never uses, expects almost no rows of a wallet.
  const isKnown = statistics !== 'without statistics';
  const cases = [
    ...OF_COLLECTIONS,
    ...(isKnown ? OF_A_PART : []),
    ...(isKnown || plan === 'generic' ? OF_WALLETS : []),
  ];

  beforeAll(() => prepare(scratch.database));

  test.each(cases)('%s is a range of an index that stops after a page', async (_name, subject, query) => {
    const found = await explained(plan, subject, query);
    const scans = scansOf(found);
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * (LIMIT + 2));
    for (const sort of found.nodes.filter((node) => node['Node Type'].includes('Sort')))
      expect(rowsInto(sort)).toBeLessThanOrEqual(2 * (LIMIT + 2));
  });

  test.runIf(isKnown)('page 1,000 touches about as little as page 1', async () => {
    const first = await explained(plan, TOKEN);
    const thousandth = await explained(plan, TOKEN, after(500));
    expect(thousandth.buffers).toBeLessThanOrEqual(first.buffers * 1.2);
  });

  test('blocks are looked up by those of the page', async () => {
    const { nodes } = await explained(plan, ALL, { toBlock: 90_000 });
    const scans = nodes.filter((node) => node['Relation Name'] === 'blocks');
    expect(scans.map((node) => node['Node Type'])).toEqual([
      expect.stringMatching(/^(Index Scan|Bitmap Heap Scan)$/),
    ]);
    expect(scans[0]?.['Actual Rows']).toBeLessThanOrEqual(LIMIT + 1);
  });

  test('a busy collection or wallet is never sorted: its partitions are read one after the other', async () => {
    for (const [, subject, query] of cases.filter(([name]) => BUSY.has(name))) {
      const { nodes } = await explained(plan, subject, query);
      const overTrades = nodes.filter((node) => planNodes(node).some(isOfTrades));
      const types = overTrades.map((node) => node['Node Type']);
      expect(types.filter((type) => /Bitmap/.test(type))).toEqual([]);
      // Only the pages of a wallet's two sides are merged and sorted.
      for (const node of overTrades.filter((one) => /Sort|Merge Append/.test(one['Node Type']))) {
        expect(rowsInto(node)).toBeLessThanOrEqual(LIMIT + 1);
        expect(node.Plans?.some(isOfTrades)).toBe(false);
      }
      expect(types.filter((type) => type === 'Append').length).toBeGreaterThanOrEqual(1);
    }
  });

  test('a page that one partition fills reads no other one, and bounds exclude those beyond them', async () => {
    const readOf = async (subject: NftTradesSubject, query: Partial<NftTradesQuery> = {}) =>
      partitionsRead(await explained(plan, subject, query), 'nft_trades');
    expect(await readOf(ALL)).toEqual([80_000]);
    expect(await readOf(ALL, after(50_000))).toEqual([40_000]);
    expect(await readOf(wallet(SELLER), after(50_000))).toEqual([0, 20_000, 40_000]);
    const nothing = { ...ALL, token: addressOf(404) };
    expect(await readOf(nothing)).toEqual([0, 20_000, 40_000, 60_000, 80_000]);
    expect(await readOf(nothing, { fromBlock: 45_000 })).toEqual([40_000, 60_000, 80_000]);
    expect(await readOf(nothing, { toBlock: 45_000 })).toEqual([0, 20_000, 40_000]);
    expect(await readOf(nothing, { fromDate: dateOf(45_000) })).toEqual([40_000, 60_000, 80_000]);
  });
});
