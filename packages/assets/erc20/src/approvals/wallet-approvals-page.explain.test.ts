import { rawSql, sql } from '@chainstead/db';
import { type Explained, exampleChain, explain, PLANS, type PlanKind, type PlanNode } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { accountOf } from './testing/example-approvals.ts';
import { type WalletApprovalsQuery, walletApprovalsPage } from './wallet-approvals-page.ts';

// One wallet has 50,000 approvals, a fifth of them revoked; four hundred others have 50 each.
const BUSY = accountOf(1);
const LIMIT = 100;
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

const seed = (wallet: string, from: number, count: number): Promise<unknown> =>
  scratch.database.query(
    sql`INSERT INTO erc20_wallet_approvals
     SELECT ${Buffer.from(wallet.slice(2), 'hex')}, ${rawSql(chain.id)}, decode(lpad(to_hex(1000 + number % 500), 40, '0'), 'hex'), decode(lpad(to_hex(5000 + number), 40, '0'), 'hex'),
       number % 5, number / 3, number % 200, number, decode(lpad(to_hex(number), 64, '0'), 'hex')
     FROM generate_series(${from}::int, ${from + count - 1}::int) AS number`,
  );

beforeAll(async () => {
  await seed(accountOf(9_999), 1, 300);
  await scratch.database.query(sql`ANALYZE`);
  await seed(BUSY, 1, 50_000);
  for (let wallet = 0; wallet < 400; wallet++) await seed(accountOf(10_000 + wallet), wallet * 7, 50);
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, seen_as, name, facts_status)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), ${rawSql(chain.id)}, 'erc20', 1, 'Name', 'known' FROM generate_series(1000, 1499) AS number`,
  );
  await scratch.database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${rawSql(chain.id)}, number, decode(lpad(to_hex(number), 64, '0'), 'hex'), now() FROM generate_series(0, 20000) AS number`,
  );
});

const explainPage = (plan: PlanKind, query: Partial<WalletApprovalsQuery> = {}): Promise<Explained> =>
  explain(
    scratch.database,
    walletApprovalsPage(chain, {
      wallet: BUSY,
      limit: LIMIT,
      after: null,
      pinnedBlock: null,
      ...query,
    }).statement(),
    plan,
  );

const rowsOf = (node: PlanNode): number => node['Actual Rows'] * node['Actual Loops'];
const afterBlock = (blockNumber: number) => ({
  blockNumber,
  transactionIndex: 0,
  logIndex: 0,
  token: accountOf(1_000),
  spender: accountOf(5_000),
});

const QUERIES: readonly (readonly [string, Partial<WalletApprovalsQuery>])[] = [
  ['the first page', {}],
  ['a first page of earlier blocks', { pinnedBlock: 9_000 }],
  ['a page in the middle', { after: afterBlock(8_000), pinnedBlock: 16_000 }],
  ['the last page', { after: afterBlock(5), pinnedBlock: 16_000 }],
];
/** Fewer rows than a page: either index may be used. */
const SMALL: readonly (readonly [string, Partial<WalletApprovalsQuery>])[] = [
  ['a small wallet', { wallet: accountOf(10_007) }],
  ['a wallet without anything', { wallet: accountOf(3) }],
];

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each(QUERIES)('%s is one range scan by block that stops after a page', async (_name, query) => {
    const { nodes } = await explainPage(plan, query);
    const scans = nodes.filter((node) => node['Relation Name'] === 'erc20_wallet_approvals');
    expect(scans.map((node) => node['Index Name'])).toEqual(['erc20_wallet_approvals_by_block']);
    for (const scan of scans) {
      expect(scan['Index Cond']).toMatch(/wallet = .*chain_id = /);
      expect(rowsOf(scan)).toBeLessThanOrEqual(LIMIT + 1);
    }
    // Block and contract data is looked up by key, one row at a time.
    for (const table of ['tokens', 'blocks'])
      for (const node of nodes.filter((each) => each['Relation Name'] === table))
        expect(rowsOf(node)).toBeLessThanOrEqual(3 * (LIMIT + 1));
  });

  test.each(SMALL)('%s is one range scan', async (_name, query) => {
    const { nodes } = await explainPage(plan, query);
    const scans = nodes.filter((node) => node['Relation Name'] === 'erc20_wallet_approvals');
    expect(scans).toHaveLength(1);
    for (const scan of scans) {
      expect(scan['Index Cond']).toMatch(/wallet = .*chain_id = /);
      expect(rowsOf(scan)).toBeLessThanOrEqual(50);
    }
  });

  test('a page in the middle touches as little as the first', async () => {
    const first = await explainPage(plan);
    const middle = await explainPage(plan, { after: afterBlock(8_000), pinnedBlock: 16_000 });
    expect(middle.buffers).toBeLessThanOrEqual(first.buffers * 1.3);
  });
});
