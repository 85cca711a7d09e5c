import { type Database, type Statement, statementOf } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { type Explained, explain, PLANS, type PlanKind, type PlanNode, planNodes } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleApi, readPage } from '../testing/example-api.ts';
import { addressOf } from '../testing/seeded-rows.ts';
import { SEEDED, secondOf, seedTables } from '../testing/seeded-tables.ts';
import { hashesOfCoinTypes } from './transfer-routes.ts';

const scratch = scratchOfFile({ autovacuum: false });
let app: ApiApp;
const requested: Statement[] = [];

beforeAll(async () => {
  await seedTables(scratch.database);
  const { database } = scratch;
  const listening: Database = {
    ...database,
    select: (statement) => {
      const read = statementOf(statement);
      if (read.text.includes('aptos_')) requested.push(read);
      return database.select(statement);
    },
  };
  app = await exampleApi(listening);
});

/** Returns the plan nodes of all statements of a request. */
async function plans(plan: PlanKind, path: string): Promise<PlanNode[]> {
  return (await explained(plan, path)).flatMap(({ nodes }) => nodes);
}

/** Returns the table and index pages that a request reads. */
async function buffersOf(plan: PlanKind, path: string): Promise<number> {
  return (await explained(plan, path)).reduce((sum, { buffers }) => sum + buffers, 0);
}

async function explained(plan: PlanKind, path: string): Promise<Explained[]> {
  requested.length = 0;
  await readPage(app, path);
  const found: Explained[] = [];
  for (const statement of requested) found.push(await explain(scratch.database, statement, plan));
  return found;
}

const LIMIT = 50;
const OFFSET = 10;
const MIDDLE = SEEDED.transactions / 2;
const list = (name: string, count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `${name}[]=${addressOf(from + index)}`).join('&');
const [rareHash = ''] = hashesOfCoinTypes([SEEDED.rareCoin]);
const [commonHash = ''] = hashesOfCoinTypes([SEEDED.commonCoin]);
const BUSY = addressOf(SEEDED.busyWallet);
const dates = `from_date=${secondOf(MIDDLE - 5_000)}&to_date=${secondOf(MIDDLE)}`;

const ONE_SCAN: readonly string[] = [
  '/coins/latest?',
  '/coins/symbols?',
  '/coins/symbols?from_symbol=S4&to_symbol=S9',
  '/coins/names?from_name=Name%205',
  `/coins/creators?${list('creator_addresses', 1)}`,
  `/coins/transfers/wallets?owner_addresses=${BUSY}`,
  `/wallets/coins/transfers?owner_addresses=${BUSY}&${dates}`,
  `/wallets/coins/transfers?owner_addresses=${BUSY}&coin_type_whitelist=0xa::m::C2`,
  '/coins/transfers/blocks?block_heights=77',
  `/coins/transfers/${encodeURIComponent(SEEDED.commonCoin)}?`,
  `/coins/transfers/${encodeURIComponent(SEEDED.commonCoin)}?${dates}`,
  `/wallets/coins?owner_addresses=${BUSY}`,
  `/wallets/coins/history?owner_addresses=${BUSY}`,
  `/coins/owners/${commonHash}/top-holders?`,
  `/coins/owners/${commonHash}/top-holders?min_amount=100&${list('wallet_blacklist', 25)}`,
];

const MERGED: readonly (readonly [string, number])[] = [
  [`/coins/creators?${list('creator_addresses', 25)}`, 25],
  [`/coins/transfers/wallets?${list('owner_addresses', 25)}`, 25],
  [
    `/coins/transfers/wallets?${list('owner_addresses', 25)}&coin_type_whitelist[]=0xa::m::C1&coin_type_whitelist[]=0xa::m::C2`,
    50,
  ],
  [
    `/coins/transfers/blocks?${Array.from({ length: 25 }, (_, index) => `block_heights[]=${index * 100}`).join('&')}`,
    25,
  ],
  [`/wallets/coins?${list('owner_addresses', 25)}`, 25],
  [`/wallets/coins/history?${list('owner_addresses', 25)}`, 25],
  [`/wallets/coins/history?${list('owner_addresses', 25)}&coin_type_hash_whitelist=${rareHash}`, 25],
];

/** Returns the first page of a route, one with an offset, and the second page. */
async function pagesOf(route: string): Promise<string[]> {
  const path = `${route}&limit=${LIMIT}`;
  const { cursor } = await readPage(app, path);
  return [path, `${path}&offset=${OFFSET}`, ...(cursor === null ? [] : [`${path}&cursor=${cursor}`])];
}

/** Returns the scans of a route's table. Those that bisect for a date or read coverage read one row at a time. */
function scansOf(nodes: readonly PlanNode[]): PlanNode[] {
  return nodes.filter(
    (node) => node['Relation Name']?.startsWith('aptos_') && node['Relation Name'] !== 'aptos_ranges',
  );
}

/** Returns the sorts of scanned rows, not of the few indexed ranges. */
function sortsOf(nodes: readonly PlanNode[]): readonly unknown[] {
  const sorts = nodes.filter((node) => node['Node Type'].includes('Sort') && scansOf(planNodes(node)).length > 0);
  return sorts.map((node) => node['Node Type']);
}

// Before its first ANALYZE, which comes within a minute, a table is assumed to have many networks.
const NEEDS_STATISTICS = /^\/coins\/(?:latest|symbols|names|creators|transfers\/blocks|transfers\/0x1)/;

describe.each(PLANS)('the $plan plan $statistics', ({ plan, statistics, prepare }) => {
  beforeAll(() => prepare(scratch.database));
  const isMeant = (route: string): boolean =>
    statistics !== 'without statistics' || !NEEDS_STATISTICS.test(route);

  it.each(ONE_SCAN.filter(isMeant))(
    '%s is one range scan of an index that stops after a page, in order',
    async (route) => {
      for (const path of await pagesOf(route)) {
        const nodes = await plans(plan, path);
        const scans = scansOf(nodes);
        expect(scans.length).toBeGreaterThan(0);
        for (const scan of scans) {
          expect(scan['Node Type']).toMatch(/^Index (Only )?Scan$/);
          expect(scan['Index Cond']).toContain('network');
          // A page, or a row for each step of a date's bisection.
          expect(scan['Actual Rows']).toBeLessThanOrEqual(LIMIT + OFFSET + 1);
        }
        expect(sortsOf(nodes)).toEqual([]);
      }
    },
  );

  const merged = MERGED.filter(([route]) => isMeant(route)).map(
    ([route, count]) => [route.split('?')[0], count, route] as const,
  );
  it.each(merged)('%s is %i range scans that each stop after a page, merged', async (_path, count, route) => {
    for (const path of await pagesOf(route)) {
      const scans = scansOf(await plans(plan, path));
      expect(scans).toHaveLength(1);
      for (const scan of scans) {
        expect(scan['Node Type']).toMatch(/^Index (Only )?Scan$/);
        expect(scan['Actual Loops']).toBeLessThanOrEqual(count);
        expect(scan['Actual Rows']).toBeLessThanOrEqual(LIMIT + OFFSET + 1);
      }
    }
  });

  it('a small wallet is read without what lies beside it', async () => {
    // A dozen rows of the wallet, and the index pages above them.
    expect(
      await buffersOf(plan, `/wallets/coins/history?limit=50&owner_addresses=${addressOf(77)}`),
    ).toBeLessThan(40);
  });

  it('a coin that is rare in a wallet is read without the rows around it', async () => {
    const nodes = await plans(
      plan,
      `/wallets/coins/transfers?limit=50&owner_addresses=${BUSY}&coin_type_whitelist=${SEEDED.rareCoin}`,
    );
    expect(scansOf(nodes).map((node) => node['Actual Rows'])).toEqual([3]);
  });
});
