import { sql } from '@chainstead/db';
import { addressOf, exampleChain, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { seedLogs } from '../testing/seed-logs.ts';
import { erc4626Vaults } from './dataset.ts';
import { depositLog, OWNER } from './testing/example-event.ts';
import { type WalletVaultsQuery, walletVaultsPage } from './wallet-vaults-route.ts';

// Half of the rows are of one account, the others of 300.
const ROWS = 20_000;
const LIMIT = 50;
const chain = exampleChain();
const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await scratch.database.query(sql`ANALYZE`);
  const logs = Array.from({ length: ROWS }, (_, index) =>
    depositLog(index % 2 === 0 ? {} : { owner: addressOf(1_000 + (index % 300)) }, {
      blockNumber: index >> 2,
      transactionIndex: 0,
      logIndex: index & 3,
    }),
  );
  await seedLogs(scratch.database, erc4626Vaults, chain, logs);
});

const QUERY: WalletVaultsQuery = {
  account: OWNER,
  order: 'DESC',
  limit: LIMIT,
  after: null,
  fromBlock: null,
  toBlock: null,
  fromDate: null,
  toDate: null,
  pinnedBlock: null,
};
const after = { block_number: 2_500, transaction_index: 0, log_index: 0 };

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each<[string, Partial<WalletVaultsQuery>]>([
    ['the first page', {}],
    ['a page in the middle', { after, pinnedBlock: 4_000 }],
    ['the oldest page', { order: 'ASC' }],
    ['a page within bounds', { fromBlock: 1_000, toBlock: 3_000 }],
  ])('%s is a range of the primary key that stops after a page', async (_name, query) => {
    const { nodes } = await explain(
      scratch.database,
      walletVaultsPage(chain, { ...QUERY, ...query }).statement(),
      plan,
    );
    const scans = nodes.filter((node) => node['Relation Name']?.startsWith('erc4626_vaults') === true);
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(scan['Index Name']).toMatch(/_pkey$/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(LIMIT + 2);
  });
});
