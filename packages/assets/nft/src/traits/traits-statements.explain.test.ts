import type { Address } from '@chainstead/core';
import { addressBytes, type Sql, sql } from '@chainstead/db';
import { coverBlocks, exampleChain, explain, PLANS, type PlanNode, seedBuilt } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { countsStatement, ranksStatement } from '../records/read-rarities.ts';
import { tokenHashInSql } from '../records/record-response.ts';
import { traitKey } from '../records/trait.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { contract } from '../transfers/testing/example-moves.ts';
import { documentsStatement, IDS_PER_PIECE, queueStatement, settleStatement } from './compute-traits.ts';
import { tokensByTraitsStatement, traitListStatement } from './traits-statement.ts';

// One collection of 10,000 ids with four of its 3,012 traits each; one of 20,000 ids that is too large; three hundred
// others of 100 ids.
const BUSY = contract(1);
const BUSY_IDS = 10_000;
const HUGE = contract(2);
const LIMIT = 100;
const chain = exampleChain();
const RARE = { type: 'Rare', value: '17' };

const scratch = scratchOfFile({ autovacuum: false });

/**
 * Adds the same number of ids to each of these collections. Half of the ids have Half = 0, a tenth Tenth = 3, a thousandth
 * Thousandth = 7, and each five share their own Rare.
 */
async function seed(collections: readonly Address[], generation: number | null, ids: number): Promise<void> {
  const { database } = scratch;
  const of = sql`unnest(${collections.map(addressBytes)}::bytea[]) AS collection(address)`;
  const chainId = sql`${chain.id}::bigint`;
  const ofIds = sql`${of}, generate_series(1, ${ids}::int) AS id`;
  const hash = sql`decode(${tokenHashInSql('address', 'id')}, 'hex')`;
  await database.query(
    sql`INSERT INTO nft_collection_ids (token_address, chain_id, token_id, token_hash, holders, supply, last_block, newest, receiver)
     SELECT address, ${chainId}, id, ${hash}, 1, 1, 1, '{1,0,0,0}', decode(lpad(to_hex(id), 40, '0'), 'hex') FROM ${ofIds}`,
  );
  await database.query(
    sql`INSERT INTO nft_collection_counts SELECT address, ${chainId}, ${ids}::bigint, ${ids}::bigint, ${ids}::bigint FROM ${of}`,
  );
  await database.query(
    sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, metadata, synced_at)
     SELECT address, ${chainId}, id, 'known', '{"name":"x"}', now() FROM ${ofIds}`,
  );
  if (generation === null) return;
  const traits = sql`SELECT address, id, named.type, named.value::text FROM ${ofIds} CROSS JOIN LATERAL (
      VALUES ('Half', id % 2), ('Tenth', id % 10), ('Thousandth', id % 1000), ('Rare', id / 5)) AS named(type, value)`;
  await database.query(
    sql`INSERT INTO nft_trait_counts (token_address, chain_id, generation, place, trait_key, trait_type, trait_value, count)
     SELECT address, ${chainId}, ${generation}::bigint, row_number() OVER (PARTITION BY address ORDER BY count(*), type, value) - 1,
       decode(md5(type || value), 'hex'), type, value, count(*)
     FROM (${traits}) AS named GROUP BY address, type, value`,
  );
  await database.query(
    sql`INSERT INTO nft_trait_tokens (token_address, chain_id, generation, place, token_hash, token_id)
     SELECT address, ${chainId}, ${generation}::bigint, counts.place, ${hash}, named.id FROM (${traits}) AS named
     JOIN nft_trait_counts AS counts ON counts.token_address = address AND counts.trait_type = named.type AND counts.trait_value = named.value`,
  );
  await database.query(
    sql`INSERT INTO nft_collection_traits (token_address, chain_id, generation, tokens, traits, computed_at, is_complete, requested_by)
     SELECT address, ${chainId}, ${generation}::bigint, ${ids}::int, (SELECT count(*) FROM nft_trait_counts WHERE token_address = address), now(), true, 'open' FROM ${of}`,
  );
  await database.query(
    sql`INSERT INTO nft_token_rarity (token_address, chain_id, generation, token_id, rank, score)
     SELECT address, ${chainId}, ${generation}::bigint, id, id, id FROM ${ofIds}`,
  );
}

/** Writes the keys as the program does. */
async function nameKeys(): Promise<void> {
  const rows = await scratch.database.query<{ contract: Address; place: number; type: string; value: string }>(
    sql`SELECT '0x' || encode(token_address, 'hex') AS contract, place, trait_type AS type, trait_value AS value FROM nft_trait_counts`,
  );
  await scratch.database.query(
    sql`UPDATE nft_trait_counts AS counts SET trait_key = named.key FROM unnest(${rows.map(({ contract: address }) => addressBytes(address))}::bytea[], ${rows.map(({ place }) => place)}::int[], ${rows.map(({ contract: address, type, value }) => traitKey(address, { type, value }))}::bytea[]) AS named(contract, place, key)
     WHERE counts.token_address = named.contract AND counts.place = named.place`,
  );
}

beforeAll(async () => {
  await seedBuilt(scratch.database, chain.id, nftCollectionOwners);
  await seed([contract(3)], 1, 300);
  await scratch.database.query(sql`ANALYZE`);
  await seed([BUSY], 1, BUSY_IDS);
  await seed([HUGE], null, 20_000);
  await seed(
    Array.from({ length: 300 }, (_, other) => contract(100 + other)),
    1,
    100,
  );
  await nameKeys();
  const other = sql`decode(lpad(to_hex(number), 40, '0'), 'hex'), ${chain.id}`;
  const others = sql`generate_series(1, 20000) AS number`;
  await scratch.database.query(
    sql`INSERT INTO nft_collection_counts (token_address, chain_id, transfers, ids, owners) SELECT ${other}, 1, 1, 1 FROM ${others}`,
  );
  await scratch.database.query(
    sql`INSERT INTO nft_collection_traits (token_address, chain_id, requested_by) SELECT ${other}, 'open' FROM ${others}`,
  );
  await coverBlocks(scratch.database, chain.id, 'nft-transfers', 0, 20_000, 'none');
});

const list = (more: Partial<Parameters<typeof traitListStatement>[1]>): Sql =>
  traitListStatement(chain, { contract: BUSY, limit: LIMIT, order: 'DESC', after: null, ...more });
const byTraits = (more: Partial<Parameters<typeof tokensByTraitsStatement>[1]>): Sql =>
  tokensByTraitsStatement(chain, {
    contract: BUSY,
    traits: [{ type: 'Half', value: '0' }],
    limit: LIMIT,
    after: null,
    ...more,
  });
const three = [
  { type: 'Half', value: '1' },
  { type: 'Tenth', value: '7' },
  { type: 'Thousandth', value: '7' },
];
const atWork = (contractAtWork: Address, after: string) =>
  ({ contract: contractAtWork, work: 'queue', after, readAfter: null }) as const;
const page = Array.from({ length: LIMIT }, (_, index) => ({ address: BUSY, tokenId: String(1 + index * 90) }));

/** Its statements, the index that each must use as a range, and the maximum rows read from tables of traits and ids. */
const STATEMENTS: readonly (readonly [string, Sql, string | RegExp, number])[] = [
  ['traits, the first page', list({}), 'nft_trait_counts_pkey', 110],
  ['traits, in the middle', list({ after: 1_000 }), 'nft_trait_counts_pkey', 110],
  ['traits, from the other end', list({ order: 'ASC', after: 1_000 }), 'nft_trait_counts_pkey', 110],
  ['traits of a small collection', list({ contract: contract(150) }), 'nft_trait_counts_pkey', 150],
  ['NFTs by a trait that half have', byTraits({}), /^nft_trait_tokens_/, 320],
  ['NFTs by a trait, in the middle', byTraits({ after: '8'.repeat(32) }), /^nft_trait_tokens_/, 320],
  ['NFTs by a rare trait', byTraits({ traits: [RARE] }), /^nft_trait_tokens_/, 40],
  ['NFTs by three traits', byTraits({ traits: three }), /^nft_trait_tokens_/, 460],
  [
    'NFTs by two traits that none has together',
    byTraits({ traits: [RARE, { type: 'Rare', value: '18' }] }),
    /^nft_trait_tokens_/,
    40,
  ],
  [
    'NFTs by a trait that nobody has',
    byTraits({ traits: [{ type: 'Half', value: '2' }] }),
    'nft_trait_counts_by_key',
    5,
  ],
  ['ranks of a page', ranksStatement(chain, page), /^nft_token_rarity_/, 4 * LIMIT],
  [
    'figures of attributes of a page',
    countsStatement(
      chain,
      Array.from({ length: LIMIT }, (_, index) => ({
        address: BUSY,
        trait: { type: 'Rare', value: String(index) },
      })),
    ),
    'nft_trait_counts_by_key',
    4 * LIMIT,
  ],
  [
    'documents to read',
    queueStatement(chain, atWork(BUSY, '4000'), 0),
    /^nft_collection_ids_/,
    2 * IDS_PER_PIECE,
  ],
  [
    'documents that are read',
    settleStatement(chain, atWork(BUSY, '4000')),
    /^nft_collection_ids_/,
    2 * IDS_PER_PIECE,
  ],
  ['documents to count', documentsStatement(chain, BUSY, '4000'), /^nft_collection_ids_/, 2 * IDS_PER_PIECE],
  [
    'documents of a huge collection',
    documentsStatement(chain, HUGE, '14000'),
    /^nft_collection_ids_/,
    2 * IDS_PER_PIECE,
  ],
];

const TABLES = /^nft_(trait_|token_|collection_(ids|counts|traits))/;
const isOurs = (node: PlanNode): boolean =>
  TABLES.test(node['Relation Name'] ?? '') && node['Node Type'] !== 'ModifyTable';

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database), 60_000);

  test.each(STATEMENTS)('of %s is ranges of indexes that stop', async (_name, statement, index, most) => {
    const { nodes } = await explain(scratch.database, statement, plan);
    const scans = nodes.filter(isOurs);
    // A bitmap is a range too; the rows it reads are counted below.
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index (Only )?Scan|Bitmap Heap Scan)$/);
    const ranges = nodes.filter((node) => TABLES.test(node['Index Name'] ?? ''));
    for (const range of ranges)
      expect(range['Index Cond']).toMatch(/token_address = .*chain_id = |^\(trait_key = /);
    expect(ranges.map((range) => range['Index Name'])).toContainEqual(
      typeof index === 'string' ? index : expect.stringMatching(index),
    );
    const read = scans.reduce(
      (sum, scan) => sum + (scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0)) * scan['Actual Loops'],
      0,
    );
    expect(read).toBeLessThanOrEqual(most);
  });

  test('of a page in the middle touches as little as the first', async () => {
    const first = await explain(scratch.database, byTraits({}), plan);
    const middle = await explain(scratch.database, byTraits({ after: '8'.repeat(32) }), plan);
    expect(middle.buffers).toBeLessThanOrEqual(first.buffers * 1.2);
  });
});
