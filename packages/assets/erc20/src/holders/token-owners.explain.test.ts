import { addressBytes, sql } from '@chainstead/db';
import {
  addressOf,
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  rowsRead,
  timestampOf,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { beginningsDown, endOf, historicalHoldersStatement } from './historical-holders-route.ts';
import { seedHolders, seedMinutes } from './testing/seeded-holders.ts';
import { type TokenOwnersQuery, tokenOwnersStatement } from './token-owners-statement.ts';

// One token has 100,000 holders and as many minutes, a hundred others 200 each.
const BUSY = addressOf(0xb05);
const HOLDERS = 100_000;
const LIMIT = 100;
const NEWEST = new Date(timestampOf(1_000) * 1_000);
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  await seedHolders(database, chain, addressOf(0xa00), 300);
  await database.query(sql`ANALYZE`);
  await seedHolders(database, chain, BUSY, HOLDERS);
  await seedMinutes(database, chain, BUSY, { count: HOLDERS, last: NEWEST });
  for (let token = 0; token < 100; token++) await seedHolders(database, chain, addressOf(0xc00 + token), 200);
  await seedCoverage(database, chain, 0, 1_000);
  await database.query(
    sql`INSERT INTO address_labels (address, chain_id, source, label) SELECT account, 0, 'test', 'Somebody' FROM erc20_holders WHERE token = ${addressBytes(BUSY)}`,
  );
  await seedTransfers(
    database,
    chain,
    Array.from({ length: 20_000 }, (_, number) => ({
      from: addressOf(1 + (number % 50)),
      to: addressOf(100 + (number % 70)),
      token: addressOf(0xf00 + (number % 300)),
      value: 1n,
      blockNumber: number >> 5,
      transactionIndex: 0,
      logIndex: number % 32,
    })),
  );
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chain.id}, number, sha256(number::text::bytea), now() FROM generate_series(0, 20000) AS number ON CONFLICT DO NOTHING`,
  );
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, facts_status, supply_read_at, supply_block, supply_block_hash)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), ${chain.id}, 'known', now(), 1, block_hash
     FROM generate_series(1, 20000) AS number CROSS JOIN blocks WHERE chain_id = ${chain.id} AND block_number = 1`,
  );
});

const explainOwners = (
  plan: PlanKind,
  wanted: TokenOwnersQuery['wanted'],
  hasReadings = true,
): Promise<Explained> =>
  explain(
    scratch.database,
    tokenOwnersStatement(chain, { token: BUSY, liveMaxAgeMs: 60_000, freshFrom: null, wanted }, { hasReadings }),
    plan,
  );

const classify = (known: 'sum' | 'live') =>
  scratch.database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (${addressBytes(BUSY)}, ${chain.id}, ${known}, 1)
     ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class`,
  );

const place = (number: number) => ({ balance: String(number), account: addressOf(number) });

const PAGES: readonly (readonly [string, TokenOwnersQuery['wanted'], number])[] = [
  ['the first page', { order: 'DESC', limit: LIMIT, after: null }, LIMIT + 1],
  ['the thousandth page', { order: 'DESC', limit: LIMIT, after: place(101) }, LIMIT],
  ['a page in the middle', { order: 'DESC', limit: LIMIT, after: place(50_000) }, LIMIT + 1],
  ['a page of the smallest', { order: 'ASC', limit: LIMIT, after: place(7) }, LIMIT + 1],
];

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  // The start of a list also reads accounts with negative balances.
  const rangesOf = ({ nodes }: Explained) =>
    nodes.filter(
      (node) =>
        node['Relation Name'] === 'erc20_holders' &&
        node['Index Name'] !== 'erc20_holders_below_zero' &&
        node['Actual Loops'] !== 0,
    );

  test.each(PAGES)('%s is one range of the index by balance alone', async (_name, wanted, most) => {
    await classify('sum');
    for (const hasReadings of [false, true]) {
      const explained = await explainOwners(plan, wanted, hasReadings);
      const ranges = rangesOf(explained);
      expect(ranges.map((node) => [node['Node Type'], node['Index Name']])).toEqual([
        ['Index Only Scan', 'erc20_holders_by_balance'],
      ]);
      for (const range of ranges) expect(range['Index Cond']).toMatch(/token = .*chain_id = /);
      expect(rowsRead(explained.nodes, 'erc20_holders')).toBeLessThanOrEqual(most);
    }
  });

  test.each(PAGES)(
    '%s of a token that does not add up is a second range for what its contract said',
    async (_name, wanted, most) => {
      await classify('live');
      const explained = await explainOwners(plan, wanted);
      const ranges = rangesOf(explained);
      expect(ranges.map((node) => node['Index Name'])).toEqual([
        'erc20_holders_by_balance',
        'erc20_holders_by_balance',
      ]);
      for (const range of ranges) expect(range['Index Cond']).toMatch(/token = .*chain_id = /);
      expect(rowsRead(explained.nodes, 'erc20_holders')).toBeLessThanOrEqual(2 * most);
    },
  );

  test('the thousandth page touches as little as the first', async () => {
    const [first, last] = [
      await explainOwners(plan, PAGES[0]?.[1] ?? { accounts: [] }),
      await explainOwners(plan, PAGES[1]?.[1] ?? { accounts: [] }),
    ];
    expect(last.buffers).toBeLessThanOrEqual(first.buffers * 1.5);
  });

  test('data next to a page is looked up by keys', async () => {
    const { nodes } = await explainOwners(plan, PAGES[0]?.[1] ?? { accounts: [] });
    const large = ['erc20_transfer_sides', 'address_labels', 'tokens', 'blocks'];
    const read = nodes.filter(
      (node) => node['Node Type'] === 'Seq Scan' && large.some((name) => node['Relation Name']?.startsWith(name)),
    );
    expect(read).toEqual([]);
    expect(rowsRead(nodes, 'address_labels')).toBeLessThanOrEqual(LIMIT + 1);
    expect(rowsRead(nodes, 'erc20_transfer_sides')).toBeLessThanOrEqual(1);
  });

  test('certain accounts are probes of the key', async () => {
    const accounts = Array.from({ length: LIMIT }, (_, index) => addressOf(1 + 700 * index));
    await classify('sum');
    const explained = await explainOwners(plan, { accounts });
    const { nodes } = explained;
    expect(rowsRead(nodes, 'erc20_holders')).toBeLessThanOrEqual(LIMIT);
    expect(rangesOf(explained).map((node) => node['Index Name'])).toEqual(['erc20_holders_pkey']);
  });

  test('the transfers of a token are counted by their index', async () => {
    for (const condition of erc20TokenHolders.subjects.rowsOf(sql`${addressBytes(addressOf(0xfee))}::bytea`)) {
      const { nodes } = await explain(
        scratch.database,
        sql`SELECT * FROM erc20_transfer_sides WHERE chain_id = ${chain.id} AND block_number > 100 AND (${condition})`,
        plan,
      );
      const indexes = nodes.flatMap((node) => node['Index Name'] ?? []);
      expect(indexes).toEqual([expect.stringContaining('token_key')]);
      expect(nodes.find((node) => node['Index Name'] !== undefined)?.['Index Cond']).toMatch(/block_number > /);
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    }
  });

  test('intervals are ranges of the minutes’ key', async () => {
    const intervals = beginningsDown('1h', NEWEST.getTime(), 0, LIMIT).map((starts) => ({
      starts,
      ends: endOf('1h', starts),
    }));
    const { nodes } = await explain(scratch.database, historicalHoldersStatement(chain, BUSY, intervals), plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'erc20_holder_minutes');
    for (const scan of scans) expect(scan['Index Cond']).toMatch(/token = .*chain_id = .*minute >= /);
    expect(rowsRead(nodes, 'erc20_holder_minutes')).toBeLessThanOrEqual(60 * LIMIT);
  });
});
