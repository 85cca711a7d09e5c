/** How a page of a wallet's transactions is read: by ranges and lookups of keys alone, on Citus as on one server. */

import type { Address } from '@chainstead/core';
import { parseHash } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { areTablesSpread } from '@chainstead/pages';
import {
  addressOf,
  createPartitions,
  createScratchDatabase,
  exampleChain,
  explain,
  findCitus,
  PLANS,
  rowsRead,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { keccak256, toHex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type SeededTransaction,
  seedTransactionCoverage,
  seedTransactions,
} from '../testing/seeded-transactions.ts';
import { type AccountTransactionsQuery, accountTransactionsPage } from './account-transactions-page.ts';

const chain = exampleChain({ transactions: { mode: 'all', input: 'full', verifiesSenders: true } });
const BUSY = addressOf(1);
const BLOCKS = 3_000;
const A_BLOCK = 10;
const CUTS = [500, 1_000, 1_500, 2_000, 2_500];
/** Number of blocks in the stale statistics. */
const ANALYZED = 60;
const LIMIT = 100;
/** The busy wallet's share of ten transactions. */
const BUSY_OF_TEN = 7;

function* seeded(first: number, below: number): Generator<SeededTransaction> {
  for (let blockNumber = first; blockNumber < below; blockNumber++)
    for (let transactionIndex = 0; transactionIndex < A_BLOCK; transactionIndex++) {
      const number = blockNumber * A_BLOCK + transactionIndex;
      yield {
        ...{ blockNumber, transactionIndex },
        from: transactionIndex < BUSY_OF_TEN ? BUSY : addressOf(10 + (number % 700)),
        to: addressOf(1_000 + (number % 900)),
        hash: parseHash(keccak256(toHex(number))),
      };
    }
}

const query = (address: Address, changes: Partial<AccountTransactionsQuery> = {}): AccountTransactionsQuery => ({
  ...{ address, order: 'DESC', limit: LIMIT, after: null },
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null, pinnedBlock: null },
  ...changes,
});

const QUERIES: readonly (readonly [what: string, query: AccountTransactionsQuery])[] = [
  ['a busy wallet', query(BUSY)],
  ['its oldest first', query(BUSY, { order: 'ASC' })],
  ['a later page', query(BUSY, { after: { block: 1_234, transaction: 3 }, pinnedBlock: BLOCKS })],
  ['a later page upwards', query(BUSY, { order: 'ASC', after: { block: 1_234, transaction: 3 } })],
  ['some of its blocks', query(BUSY, { fromBlock: 700, toBlock: 1_400 })],
  ['an ordinary wallet', query(addressOf(1_005))],
  ['a wallet with nothing', query(addressOf(0xdead))],
];

describe('a page', () => {
  const scratch = scratchOfFile({ autovacuum: false });
  beforeAll(async () => {
    for (const table of ['transactions', 'account_transactions'])
      await createPartitions(scratch.database, table, chain.id, CUTS);
    await seedTransactions(scratch.database, chain, seeded(0, ANALYZED));
    await scratch.database.query(sql`ANALYZE`);
    await seedTransactions(scratch.database, chain, seeded(ANALYZED, BLOCKS));
    await seedTransactionCoverage(scratch.database, chain, 0, BLOCKS - 1);
  });

  describe.each(PLANS)('with a $plan plan $statistics', ({ plan, prepare }) => {
    beforeAll(() => prepare(scratch.database));

    test.each(QUERIES)(
      'of %s reads a range of a key and one row for each transaction',
      async (_what, requested) => {
        const statement = accountTransactionsPage(chain, requested, false).statement();
        const { nodes } = await explain(scratch.database, statement, plan);
        const scans = nodes.filter((node) => /^(?:account_)?transactions_\d/.test(node['Relation Name'] ?? ''));
        expect(scans.length).toBeGreaterThan(0);
        expect(scans.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
        // One more than the page shows, and the newest.
        expect(rowsRead(nodes, 'account_transactions')).toBeLessThanOrEqual(LIMIT + 2);
        expect(rowsRead(nodes, 'transactions')).toBeLessThanOrEqual(LIMIT + 1);
      },
    );
  });
});

const programs = await findCitus('a wallet’s transactions on a cluster');

describe.runIf(programs !== undefined)('on a cluster', () => {
  test('a page is as on one server', async () => {
    if (programs === undefined) throw new Error('There is no Citus');
    const cluster = await programs.createCluster();
    const [spread, single] = await Promise.all([
      cluster.createDatabase({ distributed: true }),
      createScratchDatabase(),
    ]);
    try {
      for (const { database } of [spread, single]) {
        for (const table of ['transactions', 'account_transactions'])
          await createPartitions(database, table, chain.id, [20]);
        await seedTransactions(database, chain, seeded(0, 40));
        await seedTransactionCoverage(database, chain, 0, 39);
      }
      for (const [, requested] of QUERIES) {
        const [own, expected] = await Promise.all(
          [spread, single].map(async ({ database }) => {
            const { blockOf, ...page } = await accountTransactionsPage(
              chain,
              requested,
              await areTablesSpread(database),
            ).read(database);
            return { ...page, blocks: page.rows.map(blockOf) };
          }),
        );
        expect(own).toEqual(expected);
      }
    } finally {
      await Promise.all([spread.drop(), single.drop()]);
      await cluster.remove();
    }
  });
});
