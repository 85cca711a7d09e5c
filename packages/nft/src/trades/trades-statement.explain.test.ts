import {
  addressOf,
  createScratchDatabase,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  rowsRead,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  MANY_SALES,
  MANY_SALES_STEP_SECONDS,
  RARE_MARKETPLACE,
  seedManyTrades,
  WASH_TRADER,
} from './testing/many-trades.ts';
import { COLLECTION, SELLER } from './testing/seeded-trades.ts';
import { type TradesQuery, type TradesSubject, tradesStatement } from './trades-statement.ts';

const chain = exampleChain();
const LIMIT = 100;
const END = 1_700_000_000;
const dateOf = (block: number): Date => new Date((END - (MANY_SALES - block) * MANY_SALES_STEP_SECONDS) * 1000);

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase({ autovacuum: false });
  await seedManyTrades(scratch.database, chain, END);
});
afterAll(() => scratch.drop());

const TOKEN: TradesSubject = { kind: 'token', token: COLLECTION, tokenId: '1' };
const ALL: TradesSubject = { kind: 'collection', token: COLLECTION, marketplace: null };
const market = (marketplace: string): TradesSubject => ({ kind: 'collection', token: COLLECTION, marketplace });
const wallet = (address: typeof SELLER): TradesSubject => ({ kind: 'wallet', wallet: address });

const explained = (plan: PlanKind, subject: TradesSubject, query: Partial<TradesQuery> = {}) =>
  explain(
    scratch.database,
    tradesStatement(chain, {
      subject,
      limit: LIMIT,
      after: null,
      metadata: true,
      fromBlock: null,
      toBlock: null,
      fromDate: null,
      toDate: null,
      pinnedBlock: null,
      ...query,
    }),
    plan,
  );

const after = (blockNumber: number): Partial<TradesQuery> => ({
  after: { blockNumber, transactionIndex: 0, logIndex: 0, item: 0, token: COLLECTION },
  pinnedBlock: MANY_SALES,
});

const CASES: readonly (readonly [string, TradesSubject, Partial<TradesQuery>])[] = [
  ['a token', TOKEN, {}],
  ['a token, far down', TOKEN, after(500)],
  ['a token between blocks', TOKEN, { fromBlock: 10_000, toBlock: 60_000 }],
  ['a token between dates', TOKEN, { fromDate: dateOf(10_000), toDate: dateOf(50_000) }],
  ['a collection on a marketplace', market('opensea'), {}],
  ['a collection on a rare marketplace', market(RARE_MARKETPLACE), {}],
  ['a collection on no marketplace', market('x2y2'), {}],
  ['a collection on a marketplace, far down', market('blur'), after(500)],
  ['a collection', ALL, {}],
  ['a collection, far down', ALL, after(30_000)],
  ['a busy wallet', wallet(SELLER), {}],
  ['a busy wallet, far down', wallet(SELLER), after(500)],
  ['a busy wallet between dates', wallet(SELLER), { fromDate: dateOf(10_000), toDate: dateOf(50_000) }],
  ['a wallet that trades with itself', wallet(WASH_TRADER), {}],
  ['a wallet without trades', wallet(addressOf(404)), {}],
];

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each(CASES)('%s is a range of an index that stops after a page', async (_name, subject, query) => {
    const { nodes } = await explained(plan, subject, query);
    const scans = nodes.filter((node) => node['Relation Name'] === 'nft_trades');
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    expect(rowsRead(nodes, 'nft_trades')).toBeLessThanOrEqual(2 * (LIMIT + 2));
  });

  test('page 1,000 touches about as little as page 1', async () => {
    const first = await explained(plan, TOKEN);
    const thousandth = await explained(plan, TOKEN, after(500));
    expect(thousandth.buffers).toBeLessThanOrEqual(first.buffers * 1.2);
  });
});
