import { addressBytes, sql } from '@chainstead/db';
import {
  addressOf,
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  rowsRead,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { cover, seedWallet } from './testing/seeded-wallet.ts';
import { type WalletNftsQuery, walletNftsStatement } from './wallet-nfts-statement.ts';

// One wallet had 60,000 tokens of 20,000 collections, every fourth of them spam; three hundred others hold 100 each. On
// another chain, whose start is not indexed, it had as many ERC-1155 tokens.
const BUSY = addressOf(1);
const TOKENS = 60_000;
const LIMIT = 100;
const chain = exampleChain();
const lateChain = exampleChain({ id: 10 });

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await seedWallet(scratch.database, chain, BUSY, []);
  await cover(scratch.database, chain, 0, 100_000);
  await seed(addressOf(99_999), 1, 300);
  await scratch.database.query(sql`ANALYZE`);
  await seed(BUSY, 1, TOKENS);
  await seedWallet(scratch.database, lateChain, BUSY, []);
  await cover(scratch.database, lateChain, 5, 100_000);
  await seed(BUSY, 1, TOKENS, lateChain);
  await scratch.database.query(
    sql`INSERT INTO nft_wallet_tokens SELECT decode(lpad(to_hex(100000 + wallet), 40, '0'), 'hex'), ${chain.id}, decode(lpad(to_hex(1000 + number), 40, '0'), 'hex'), number, 1, number
       FROM generate_series(1, 300) AS wallet, generate_series(1, 100) AS number`,
  );
  await scratch.database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject)
     SELECT ${chain.id}, ${nftWalletTokens.name}, decode(lpad(to_hex(number), 40, '0'), 'hex') FROM generate_series(1, 100300) AS number ON CONFLICT DO NOTHING`,
  );
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, seen_as, name, possible_spam, facts_status)
     SELECT decode(lpad(to_hex(1000 + number), 40, '0'), 'hex'), ${chain.id}, 'erc721', 2, 'Name', number % 4 = 0, 'known' FROM generate_series(0, 19999) AS number`,
  );
});

/** Every third is sent away. */
async function seed(wallet: typeof BUSY, from: number, to: number, of = chain): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO nft_wallet_tokens SELECT ${addressBytes(wallet)}, ${of.id}, decode(lpad(to_hex(1000 + number % 20000), 40, '0'), 'hex'), number, (number % 3 > 0)::int, number
       FROM generate_series(${from}::int, ${to}::int) AS number`,
  );
}

const explainPage = (plan: PlanKind, query: Partial<WalletNftsQuery> = {}, of = chain): Promise<Explained> =>
  explain(
    scratch.database,
    walletNftsStatement(of, {
      wallet: BUSY,
      limit: LIMIT,
      after: null,
      excludeSpam: false,
      contracts: [],
      ...query,
    }),
    plan,
  );

const at = (block: number, settled: number, shown = '') => ({
  after: { block, address: addressOf(1_000), tokenId: '5', upperBound: 90_000, run: { settled, shown } },
});

const QUERIES: readonly (readonly [string, Partial<WalletNftsQuery>, number])[] = [
  ['the first page', {}, LIMIT + 1],
  ['a page in settled blocks', at(30_000, 50_000), LIMIT + 1],
  ['a page in blocks that can be reorganised', at(59_990, 59_900, 'abcdef012345'), LIMIT + 1],
  ['the last page', at(20, 50_000), LIMIT + 1],
  ['a page without spam', { excludeSpam: true }, 1.6 * (LIMIT + 1)],
  ['a small wallet', { wallet: addressOf(100_007) }, LIMIT + 1],
  ['a wallet without anything', { wallet: addressOf(3) }, 0],
];

/** Those that ran. */
const scansOf = (nodes: Explained['nodes']) =>
  nodes.filter((node) => node['Relation Name'] === 'nft_wallet_tokens' && node['Actual Loops'] > 0);

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each(QUERIES)(
    '%s is one range of the index by change that stops after a page',
    async (_name, query, most) => {
      const { nodes } = await explainPage(plan, query);
      const scans = scansOf(nodes);
      expect(scans.map((node) => [node['Node Type'], node['Index Name']])).toEqual([
        [expect.stringMatching(/^Index (Only )?Scan$/), 'nft_wallet_tokens_by_change'],
      ]);
      expect(scans[0]?.['Index Cond']).toMatch(/wallet = .*chain_id = /);
      expect(rowsRead(nodes, 'nft_wallet_tokens')).toBeLessThanOrEqual(most);
      for (const table of ['tokens', 'nft_collections', 'collection_list_entries', 'spam_list_entries'])
        expect(rowsRead(nodes, table)).toBeLessThanOrEqual(2 * Math.max(1.6 * (LIMIT + 1), most));
    },
  );

  test.each(QUERIES.slice(0, 3))(
    '%s of a wallet whose beginning is not indexed is two ranges that stop after a page',
    async (_name, query) => {
      const { nodes } = await explainPage(plan, query, lateChain);
      const indexes = scansOf(nodes).map((node) => node['Index Name']);
      expect(indexes.toSorted()).toEqual(['nft_wallet_tokens_by_change', 'nft_wallet_tokens_given_by_change']);
      expect(rowsRead(nodes, 'nft_wallet_tokens')).toBeLessThanOrEqual(2 * (LIMIT + 1));
    },
  );

  test('a page in the middle touches as little as the first', async () => {
    const first = await explainPage(plan);
    const middle = await explainPage(plan, at(30_000, 50_000));
    expect(middle.buffers).toBeLessThanOrEqual(first.buffers * 1.3);
  });
});
