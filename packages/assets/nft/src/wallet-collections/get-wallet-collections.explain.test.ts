import { addressBytes, sql } from '@chainstead/db';
import {
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  rowsRead,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { contractOf, seedHoldings, seedNftCoverage, seedWalletRange } from './testing/seeded-holdings.ts';
import { type WalletCollectionsQuery, walletCollectionsStatement } from './wallet-collections-statement.ts';

// One wallet holds 60,000 collections, four hundred others 100 each; every fourth contract is spam. One with an
// incomplete history holds 300, and sent all it is known to have received of three ids of each of 2,000.
const BUSY = contractOf(1);
const BUSY_COLLECTIONS = 60_000;
const GIVER = contractOf(2);
const LIMIT = 100;
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const holdings = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ contract: contractOf(1_000 + index), ids: 1 + (index % 5) }));
  await seedHoldings(scratch.database, chain, contractOf(99_999), holdings(300));
  await scratch.database.query(sql`ANALYZE`);
  await seedHoldings(scratch.database, chain, BUSY, holdings(BUSY_COLLECTIONS));
  for (let wallet = 0; wallet < 400; wallet++)
    await seedHoldings(scratch.database, chain, contractOf(100_000 + wallet), holdings(100));
  await seedHoldings(scratch.database, chain, GIVER, holdings(300));
  await scratch.database.query(
    sql`INSERT INTO nft_wallet_tokens (wallet, chain_id, token_address, token_id, amount, last_block)
     SELECT ${addressBytes(GIVER)}, ${chain.id}, decode(lpad(to_hex(1100 + number / 6), 40, '0'), 'hex'), number, CASE number % 6 WHEN 0 THEN 0 WHEN 1 THEN -1 WHEN 2 THEN -2 ELSE 1 END, number
     FROM generate_series(1, 12000) AS number`,
  );
  await seedNftCoverage(scratch.database, chain, 500, 1_000);
  await seedWalletRange(scratch.database, chain, BUSY, 0, 499);
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, seen_as, name, possible_spam, facts_status)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), 1, 'erc721', 2, 'Name', number % 4 = 0, 'known'
     FROM generate_series(1000, ${1_000 + BUSY_COLLECTIONS}::bigint) AS number`,
  );
  await scratch.database.query(
    sql`INSERT INTO nft_collections (token_address, chain_id, status, name)
     SELECT address, chain_id, 'known', name FROM tokens WHERE get_byte(address, 19) % 2 = 0`,
  );
});

const explainPage = (plan: PlanKind, query: Partial<WalletCollectionsQuery> = {}): Promise<Explained> =>
  explain(
    scratch.database,
    walletCollectionsStatement(chain, { wallet: BUSY, limit: LIMIT, after: null, excludeSpam: false, ...query }),
    plan,
  );

const rowsOf = (node: PlanNode): number => node['Actual Rows'] * node['Actual Loops'];

const QUERIES: readonly (readonly [string, Partial<WalletCollectionsQuery>, number])[] = [
  ['the first page', {}, LIMIT + 1],
  ['a page in the middle', { after: contractOf(31_000) }, LIMIT + 1],
  ['the last page', { after: contractOf(1_000 + BUSY_COLLECTIONS - 20) }, LIMIT + 1],
  ['a page without spam', { excludeSpam: true }, 1.5 * (LIMIT + 1)],
  ['a small wallet', { wallet: contractOf(100_007) }, LIMIT + 1],
  ['a wallet without anything', { wallet: contractOf(3) }, 0],
];

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each(QUERIES)(
    '%s is one range scan of the holdings’ key that stops after a page',
    async (_name, query, most) => {
      const { nodes } = await explainPage(plan, query);
      const scans = nodes.filter((node) => node['Relation Name'] === 'nft_wallet_collections');
      expect(scans.map((node) => [node['Node Type'], node['Index Name']])).toEqual([
        [expect.stringMatching(/^Index (Only )?Scan$/), 'nft_wallet_collections_pkey'],
      ]);
      for (const scan of scans) {
        expect(scan['Index Cond']).toMatch(/wallet = .*chain_id = /);
        expect(rowsOf(scan)).toBeLessThanOrEqual(most);
      }
      // Facts of contracts are looked up by key, a row at a time.
      for (const table of ['tokens', 'nft_collections', 'collection_list_entries', 'spam_list_entries'])
        for (const node of nodes.filter((each) => each['Relation Name'] === table))
          expect(rowsOf(node)).toBeLessThanOrEqual(Math.max(1.5 * (LIMIT + 1), most));
    },
  );

  test.each([
    ['the first page', { excludeSpam: false }],
    ['a page in the middle', { excludeSpam: false, after: contractOf(1_500) }],
    ['a page without spam', { excludeSpam: true }],
  ])(
    '%s of a wallet whose beginning is not indexed is two ranges that stop after a page',
    async (_name, query) => {
      const { nodes } = await explainPage(plan, { wallet: GIVER, ...query });
      const given = nodes.filter(
        (node) => node['Relation Name'] === 'nft_wallet_tokens' && node['Actual Loops'] > 0,
      );
      expect(given.length).toBeGreaterThan(0);
      for (const scan of given) {
        expect(scan['Index Name']).toBe('nft_wallet_tokens_given_by_contract');
        expect(scan['Index Cond']).toMatch(/wallet = .*chain_id = /);
      }
      // Three ids of each contract: to find it, and to read from the contract.
      const most = (query.excludeSpam ? 1.5 : 1) * (LIMIT + 1);
      expect(rowsRead(nodes, 'nft_wallet_tokens')).toBeLessThanOrEqual(3 * (most + LIMIT + 1) + 3);
      expect(rowsRead(nodes, 'nft_wallet_collections')).toBeLessThanOrEqual(most);
    },
  );

  test('a page in the middle touches as little as the first', async () => {
    const first = await explainPage(plan);
    const middle = await explainPage(plan, { after: contractOf(31_000) });
    expect(middle.buffers).toBeLessThanOrEqual(first.buffers * 1.2);
  });
});
