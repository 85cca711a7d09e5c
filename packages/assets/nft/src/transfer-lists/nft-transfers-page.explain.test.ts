import type { Address } from '@chainstead/core';
import { addressBytes, rawSql, sql } from '@chainstead/db';
import { FIRST_PAGE } from '@chainstead/pages/testing';
import {
  addressOf,
  createPartitions,
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  planNodes,
  rowsInto,
  rowsScanned,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { type NftTransfersQuery, type NftTransfersSubject, nftTransfersPage } from './nft-transfers-page.ts';

// Seven of ten rows belong to the busy collection; the busy wallet sends in five of ten and receives in one. One row in
// 500 is a range.
const BLOCKS = 10_000;
const CUTS = [1_500, 3_000, 5_000, 7_000, 9_000];
const BUSY = addressOf(1);
const WHALE = addressOf(0xa11ce);
const LIMIT = 100;
const RARE_ID = '500';
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'nft_transfers', chain.id, CUTS);
  await seed(0, 200);
  await scratch.database.query(sql`ANALYZE`);
  await seed(200, BLOCKS);
  await scratch.database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chain.id}, block, sha256(block::text::bytea), to_timestamp(1600000000 + 12 * block) FROM generate_series(0, ${BLOCKS}::int - 1) AS block`,
  );
});

async function seed(from: number, below: number): Promise<void> {
  const other = (number: string): string => `decode(lpad(to_hex(${number}), 40, '0'), 'hex')`;
  await scratch.database.query(
    sql`INSERT INTO nft_transfers SELECT address_key(token), ${chain.id}, block, place / 2, place, 0, CASE WHEN is_range THEN 3 ELSE 0 END, token,
         CASE WHEN is_range THEN 100000 WHEN place = 1 AND block % 40 = 0 THEN 7
           WHEN place = 1 AND block % 3000 = 77 THEN ${rawSql(RARE_ID)} ELSE 1000 + (block * 7919 + place) % 9000 END,
         CASE WHEN is_range THEN 100000 + block END,
         CASE WHEN place < 5 THEN ${addressBytes(WHALE)} ELSE ${rawSql(other('20000 + (block * 31 + place) % 5000'))} END,
         CASE WHEN place = 5 THEN ${addressBytes(WHALE)} ELSE ${rawSql(other('40000 + (block * 17 + place) % 5000'))} END, 1, NULL, sha256(block::text::bytea)
       FROM generate_series(${from}::int, ${below}::int - 1) AS block, generate_series(0, 9) AS place,
         LATERAL (SELECT ${rawSql(other('CASE WHEN place < 7 THEN 1 ELSE 100 + (block * 31 + place) % 500 END'))}, place = 2 AND block % 50 = 0) AS of(token, is_range)`,
  );
}

const isOfTransfers = (node: PlanNode): boolean => node['Relation Name']?.startsWith('nft_transfers_') === true;

const explained = (
  plan: PlanKind,
  subject: NftTransfersSubject,
  query: Partial<NftTransfersQuery> = {},
): Promise<Explained> =>
  explain(
    scratch.database,
    nftTransfersPage(chain, {
      ...FIRST_PAGE,
      subject,
      limit: LIMIT,
      ...query,
    }).statement(),
    plan,
  );

const wallet = (address: Address, contracts: readonly Address[] | null = null): NftTransfersSubject => ({
  kind: 'wallet',
  wallet: address,
  contracts,
});
const collection = (token: Address): NftTransfersSubject => ({ kind: 'collection', token });
const token = (tokenId: string): NftTransfersSubject => ({ kind: 'token', token: BUSY, tokenId });
const after = (blockNumber: number): Partial<NftTransfersQuery> => ({
  after: { block: blockNumber, transaction: 0, log: 0, item: 0 },
  pinnedBlock: BLOCKS,
});

type Case = readonly [name: string, subject: NftTransfersSubject, query: Partial<NftTransfersQuery>];
const CASES: readonly Case[] = [
  ['a busy collection', collection(BUSY), {}],
  ['a busy collection, far down', collection(BUSY), after(500)],
  ['a busy collection, ascending', collection(BUSY), { order: 'ASC' }],
  ['a busy collection between blocks', collection(BUSY), { fromBlock: 2_000, toBlock: 8_000 }],
  ['another collection', collection(addressOf(150)), {}],
  ['a collection without transfers', collection(addressOf(3)), {}],
  ['a busy wallet', wallet(WHALE), {}],
  ['a busy wallet, far down', wallet(WHALE), after(500)],
  ['a busy wallet, ascending', wallet(WHALE), { order: 'ASC' }],
  ['a busy wallet between blocks', wallet(WHALE), { fromBlock: 2_000, toBlock: 8_000 }],
  ['another wallet', wallet(addressOf(20_005)), {}],
  ['a wallet without transfers', wallet(addressOf(3)), {}],
];
/** Found by a separate index next to the collection's, which looks as good without any statistics. */
const OF_TOKENS: readonly Case[] = [
  ['a token that moved often', token('7'), {}],
  ['a token that moved often, far down', token('7'), after(5_000)],
  ['a token in ranges', token('105000'), {}],
  ['a token that moved four times', token(RARE_ID), {}],
  ['a token that never moved', token('999999'), {}],
];

// The API uses generic plans. Custom ones, of a database behind a pooler, need statistics to recognize a busy wallet.
const KNOWING = PLANS.filter(
  ({ plan, statistics }) => plan === 'generic' || statistics === 'with fresh statistics',
);

describe.each(KNOWING)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  const cases = [...CASES, ...(statistics === 'without statistics' ? [] : OF_TOKENS)];
  beforeAll(() => prepare(scratch.database));

  test.each(cases)(
    '%s is a range of an index for each part, which stops after a page',
    async (_name, subject, query) => {
      const { nodes } = await explained(plan, subject, query);
      const scans = nodes.filter(isOfTransfers);
      const parts = subject.kind === 'collection' ? 1 : 2;
      expect(scans.length).toBeGreaterThanOrEqual(parts);
      for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
      // All 200 ranges of the collection are searched.
      const ranges = subject.kind === 'token' ? 200 : 0;
      expect(rowsScanned(scans)).toBeLessThanOrEqual(1.4 * parts * (LIMIT + 1) + ranges);
      for (const sort of nodes.filter((node) => node['Node Type'].includes('Sort')))
        expect(rowsInto(sort)).toBeLessThanOrEqual(2 * (LIMIT + 1) + ranges);
    },
  );

  test('a busy collection or wallet is never sorted: its partitions are read one after the other', async () => {
    for (const [, subject, query] of CASES.filter(([name]) => name.startsWith('a busy'))) {
      const { nodes } = await explained(plan, subject, query);
      const over = nodes.filter((node) => planNodes(node).some(isOfTransfers));
      expect(over.filter((node) => node['Node Type'].includes('Bitmap'))).toEqual([]);
      for (const node of over.filter((one) => /Sort|Merge Append/.test(one['Node Type'])))
        expect(node.Plans?.some(isOfTransfers)).toBe(false);
    }
  });

  test.runIf(plan === 'generic')(
    'some contracts of a busy wallet are looked for in no more than a bounded number of its transfers',
    async () => {
      const { nodes } = await explained(plan, wallet(WHALE, [addressOf(3)]));
      const scans = nodes.filter(isOfTransfers);
      for (const scan of scans) expect(scan['Node Type']).toMatch(/^Index/);
      // Once for the page, once for the position where it stopped; 10,000 of either side at most.
      expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * 2 * 10_000 * 1.1);
      const found = await explained(plan, wallet(WHALE, [BUSY]));
      expect(rowsScanned(found.nodes.filter(isOfTransfers))).toBeLessThanOrEqual(1_000);
    },
  );
});
