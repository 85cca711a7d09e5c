import { sql } from '@chainstead/db';
import { exampleChain, explain, PLANS, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { MANY_SALES, MANY_SALES_STEP_SECONDS, seedManyTrades } from '../trades/testing/many-trades.ts';
import { COLLECTION } from '../trades/testing/seeded-trades.ts';
import { type SalePricesQuery, salePricesStatement } from './sale-prices-statement.ts';

const chain = exampleChain();
const NOW = new Date('2024-05-17T15:00:00Z');
/** Block numbers that separate the four partitions. */
const CUTS = [30_000, 60_000, 85_000];
const SALES_A_DAY = 86_400 / MANY_SALES_STEP_SECONDS;

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await seedManyTrades(scratch.database, chain, NOW.getTime() / 1000, CUTS);
  // Sales of other tokens: a table with only one token's days would rightly be read whole.
  await scratch.database.query(
    sql`INSERT INTO nft_sale_days SELECT decode(lpad(to_hex(token % 50), 40, '0'), 'hex'), 1, token, decode(repeat('00', 20), 'hex'), date '2024-01-01' + day,
       1, 5, 5, 1, 0, 0, 0, 5, 1, 0, 0, 0, 1, 0, 0, 0
     FROM generate_series(1, 4000) AS token CROSS JOIN generate_series(1, 15) AS day`,
  );
});

const pricesOf = (query: Partial<SalePricesQuery>) => {
  const requested = { token: COLLECTION, tokenId: '1', days: 365, now: NOW, includeWrapped: false, ...query };
  return salePricesStatement(chain, requested);
};

const QUERIES = [
  ['a token with 100,000 sales, a year', { days: 365 }],
  ['a token with 100,000 sales, a week', { days: 7 }],
  ['a token with 100,000 sales, wrapped ether too', { days: 365, includeWrapped: true }],
  ['its collection, a year', { tokenId: null, days: 365 }],
  ['a token without sales', { tokenId: '999', days: 365 }],
] as const satisfies readonly (readonly [string, Partial<SalePricesQuery>])[];

/** The window's first day is partial, with 9 of its 24 hours; then three lookups. */
const TRADES_READ_MAX = SALES_A_DAY * 0.4 + 20;

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each(QUERIES)('%s: a row a day, and the trades of one day at most', async (_name, query) => {
    const { nodes } = await explain(scratch.database, pricesOf(query), plan);
    expect(
      nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name']?.startsWith('nft_')),
    ).toEqual([]);
    expect(rowsRead(nodes, 'nft_trades')).toBeLessThan(TRADES_READ_MAX);
    expect(rowsRead(nodes, 'nft_sale_days')).toBeLessThanOrEqual(366);
  });
});

test('gives what a scan of all sales gives', async () => {
  const [row] = await scratch.database.query<{ sales: number; average: string }>(pricesOf({ days: 200 }));
  const [scanned] = await scratch.database.query<{ sales: number; average: string }>(
    sql`SELECT count(*) AS sales, div(sum(price), count(*)) AS average FROM nft_trades
     WHERE token_id = 1 AND token_address = ${Buffer.from(COLLECTION.slice(2), 'hex')} AND block_timestamp >= ${new Date(NOW.getTime() - 200 * 86_400_000)}::timestamptz`,
  );
  expect(row).toMatchObject(scanned ?? {});
  expect(row?.sales).toBe(Math.min(MANY_SALES, 200 * SALES_A_DAY + 1));
});
