import type { Address } from '@chainstead/core';
import { addressBytes, rawSql, type Sql, sql } from '@chainstead/db';
import {
  coverBlocks,
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanNode,
  rowsRead,
  seedBuilt,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { tokenHashInSql } from '../records/record-response.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { account, contract } from '../transfers/testing/example-moves.ts';
import { uniqueOwnersStatement } from './collection-stats-route.ts';
import { collectionStatsStatement } from './collection-subjects.ts';
import { contractNftsStatement, hashRange } from './contract-nfts-route.ts';
import { ownersStatement } from './owners-statement.ts';

// One fully counted collection of 20,000 ids, every tenth burned, with 10,000 owners of its id 7. One ERC-1155 of
// 6,000 ids with 4,000 owners that is not counted, so that its contract is called. Three hundred others of 100 ids.
const BUSY = contract(1);
const BUSY_IDS = 20_000;
const UNCOUNTED = contract(3);
const LIMIT = 100;
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

/** Adds the same number of ids to each of these collections. */
async function seed(
  collections: readonly Address[],
  ids: number,
  ownersOfSeven: number,
  isSingle = true,
): Promise<void> {
  const { database } = scratch;
  const of = sql`unnest(${collections.map(addressBytes)}::bytea[]) AS collection(address)`;
  const chainId = sql`${chain.id}::bigint`;
  const single = sql`${isSingle}::boolean`;
  const owner = (number: string): Sql => sql`decode(lpad(to_hex(${rawSql(number)}), 40, '0'), 'hex')`;
  await database.query(
    sql`INSERT INTO nft_collection_balances (token_address, chain_id, token_id, owner, amount, last_block, is_sum)
     SELECT address, ${chainId}, id, ${owner('1000 + (id * 7 + turn) % 5000')}, CASE turn WHEN 2 THEN 1 ELSE 0 END, id / 2 + turn, true
       FROM ${of}, generate_series(1, ${ids}::int) AS id, generate_series(0, 2) AS turn
     UNION ALL SELECT address, ${chainId}, 7, ${owner('100000 + number')}, 3 * (number % 2), number % 1000, true FROM ${of}, generate_series(1, ${ownersOfSeven}::int) AS number`,
  );
  await database.query(
    sql`INSERT INTO nft_collection_ids (token_address, chain_id, token_id, token_hash, holders, supply, last_block, newest, receiver)
     SELECT address, ${chainId}, id, decode(${tokenHashInSql('address', 'id')}, 'hex'), CASE WHEN ${single} OR id % 10 <> 0 THEN 1 ELSE 0 END, 1, id / 2,
       CASE WHEN ${single} THEN ARRAY[id / 2, 0, 0, 0] END, CASE WHEN ${single} THEN CASE WHEN id % 10 = 0 THEN ${owner('0')} ELSE ${owner('1000 + id % 5000')} END END
       FROM ${of}, generate_series(1, ${ids}::int) AS id`,
  );
  await database.query(
    sql`INSERT INTO nft_collection_owners (token_address, chain_id, owner, ids_held)
     SELECT address, ${chainId}, ${owner('number')}, 1 FROM ${of}, generate_series(1, ${ids}::int) AS number`,
  );
  await database.query(
    sql`INSERT INTO nft_collection_counts SELECT address, ${chainId}, ${ids}::bigint, ${ids}::bigint, ${ids}::bigint FROM ${of}`,
  );
}

beforeAll(async () => {
  await seedBuilt(scratch.database, chain.id, nftCollectionOwners);
  await seed([contract(2)], 300, 0);
  await scratch.database.query(sql`ANALYZE`);
  await seed([BUSY], BUSY_IDS, 10_000);
  await seed([UNCOUNTED], 6_000, 4_000, false);
  await scratch.database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${chain.id}, ${nftCollectionOwners.name}, ${addressBytes(BUSY)})`,
  );
  const others = Array.from({ length: 300 }, (_, other) => contract(100 + other));
  await seed(others, 100, 0);
  await scratch.database.query(
    sql`INSERT INTO nft_collection_counts SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), ${chain.id}, 1, 1, 1 FROM generate_series(1, 20000) AS number`,
  );
  await coverBlocks(scratch.database, chain.id, 'nft-transfers', 0, 20_000, 'none');
});

const run = { settled: 15_000, shown: '' };
const behind = (block: number, tokenId: string) => ({
  run,
  upperBound: 20_000,
  block,
  tokenId,
  owner: account(1_500),
});
const owners = (more: Partial<Parameters<typeof ownersStatement>[1]>): Sql =>
  ownersStatement(chain, { contract: BUSY, tokenId: null, isSingle: true, limit: LIMIT, after: null, ...more });
const several = (more: Partial<Parameters<typeof ownersStatement>[1]>): Sql =>
  owners({ contract: UNCOUNTED, isSingle: false, ...more });
const nfts = (more: Partial<Parameters<typeof contractNftsStatement>[1]>): Sql =>
  contractNftsStatement(chain, {
    contract: BUSY,
    isSingle: true,
    limit: LIMIT,
    after: null,
    range: null,
    ...more,
  });
const amounts = (more: Partial<Parameters<typeof contractNftsStatement>[1]>): Sql =>
  nfts({ contract: UNCOUNTED, isSingle: false, ...more });

const BY_HASH = 'nft_collection_ids_by_hash';
const GIVEN_BY_HASH = 'nft_collection_ids_given_by_hash';
const IDS_BY_CHANGE = 'nft_collection_ids_by_change';
const BY_CHANGE = 'nft_collection_balances_by_change';
const BY_ID = 'nft_collection_balances_by_id';
const GIVEN_BY_CHANGE = 'nft_collection_balances_given_by_change';
/** By id, except that both ranges count as short without statistics. */
const GIVEN_OF_ID = /^nft_collection_balances_given_by_(id|change)$/;
const OF_IDS = /^nft_collection_ids_/;
const OF_OWNERS = /^nft_collection_owners_/;

/**
 * Each page's statement, the index that it must use as a range, and the maximum rows that it may read from the state's
 * tables.
 */
const PAGES: readonly (readonly [string, Sql, string | RegExp, number])[] = [
  ['NFTs, the first', nfts({}), BY_HASH, 101],
  ['NFTs, in the middle', nfts({ after: '8'.repeat(32) }), BY_HASH, 101],
  ['NFTs of one part', nfts({ range: hashRange({ range: 41, totalRanges: 100 }) }), BY_HASH, 101],
  ['NFTs of a small collection', nfts({ contract: contract(150) }), BY_HASH, 101],
  ['NFTs of several owners each', nfts({ isSingle: false }), BY_HASH, 101],
  // Two givers of each id without a known holder.
  ['NFTs that are not counted', amounts({}), GIVEN_BY_HASH, 4 * 101],
  ['NFTs that are not counted, in the middle', amounts({ after: '8'.repeat(32) }), GIVEN_BY_HASH, 4 * 101],
  ['owners, the first', owners({}), IDS_BY_CHANGE, 101],
  ['owners, in the middle', owners({ after: behind(5_000, '10001') }), IDS_BY_CHANGE, 101],
  ['owners that could be reorganised', owners({ after: behind(16_000, '10001') }), IDS_BY_CHANGE, 101],
  ['the owner of one id', owners({ tokenId: '4711' }), OF_IDS, 1],
  ['owners of several of each', owners({ isSingle: false }), BY_CHANGE, 101],
  [
    'owners of several of each, in the middle',
    owners({ isSingle: false, after: behind(5_000, '10001') }),
    BY_CHANGE,
    101,
  ],
  ['owners of one id', owners({ tokenId: '7', isSingle: false }), BY_ID, 101],
  [
    'owners of one id, in the middle',
    owners({ tokenId: '7', isSingle: false, after: behind(500, '7') }),
    BY_ID,
    101,
  ],
  ['owners of several of each that are not counted', several({}), GIVEN_BY_CHANGE, 202],
  [
    'owners of several of each that are not counted, in the middle',
    several({ after: behind(1_500, '3001') }),
    GIVEN_BY_CHANGE,
    202,
  ],
  ['owners of one id that are not counted', several({ tokenId: '7' }), GIVEN_OF_ID, 202],
  ['unique owners', uniqueOwnersStatement(chain, { contract: BUSY, limit: LIMIT, after: null }), OF_OWNERS, 101],
  [
    'unique owners, in the middle',
    uniqueOwnersStatement(chain, { contract: BUSY, limit: LIMIT, after: account(10_000) }),
    OF_OWNERS,
    101,
  ],
  ['the counts', collectionStatsStatement(chain, BUSY), /^nft_collection_counts_/, 1],
];

const isOfState = (node: PlanNode): boolean => node['Relation Name']?.startsWith('nft_collection_') ?? false;
const TABLES = ['balances', 'ids', 'owners', 'counts'].map((table) => `nft_collection_${table}`);

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database), 60_000);

  test.each(PAGES)('of %s is ranges of indexes that stop after a page', async (_name, statement, index, most) => {
    const { nodes }: Explained = await explain(scratch.database, statement, plan);
    const scans = nodes.filter((node) => isOfState(node) && node['Actual Loops'] > 0);
    for (const scan of scans) {
      expect(scan['Node Type']).toMatch(/^Index (Only )?Scan$/);
      expect(scan['Index Cond']).toMatch(/token_address = .*chain_id = /);
    }
    expect(scans.map((scan) => scan['Index Name'])).toContainEqual(
      typeof index === 'string' ? index : expect.stringMatching(index),
    );
    const read = TABLES.reduce((sum, table) => sum + rowsRead(nodes, table), 0);
    expect(read).toBeLessThanOrEqual(most);
  });

  // Without statistics and with server defaults, a page of 5,000 is read and sorted. So is a minute of a server behind
  // a pooler.
  test.runIf(plan === 'generic')('of 5,000 unique owners is a range of their key', async () => {
    const { nodes } = await explain(
      scratch.database,
      uniqueOwnersStatement(chain, { contract: BUSY, limit: 5_000, after: null }),
      plan,
    );
    expect(rowsRead(nodes, 'nft_collection_owners')).toBe(5_001);
  });

  test('of a page in the middle touches as little as the first', async () => {
    const first = await explain(scratch.database, nfts({}), plan);
    const middle = await explain(scratch.database, nfts({ after: '8'.repeat(32) }), plan);
    expect(middle.buffers).toBeLessThanOrEqual(first.buffers * 1.2);
  });
});
