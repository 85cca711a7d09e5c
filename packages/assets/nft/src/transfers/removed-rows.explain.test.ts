import type { Address } from '@chainstead/core';
import { addressBytes, rawSql, runStatements, type Sql, sql, statementOf } from '@chainstead/db';
import { LOCAL_ACCESS } from '@chainstead/sync/ingest';
import { addressOf, createPartitions, exampleChain, explain, PLANS } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { nftCollectionOwners } from './collection-owners.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

// A collection of 9,000 ids that move eight times each on average, in five partitions; the newest ten blocks are rolled
// back.
const BUSY = addressOf(1);
const BLOCKS = 10_000;
const MOVES_OF_BLOCK = 7;
const REMOVED_FROM = BLOCKS - 10;
const WALLET = addressOf(10);
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  await createPartitions(database, 'nft_transfers', chain.id, [2_000, 4_000, 6_000, 8_000]);
  await database.query(sql`CREATE TABLE gone (LIKE nft_transfers)`);
  await seed(0, 200);
  await database.query(sql`ANALYZE`);
  await seed(200, BLOCKS);
  await database.query(sql`INSERT INTO gone SELECT * FROM nft_transfers WHERE block_number >= ${REMOVED_FROM}`);
  for (const [projection, subjects] of PROJECTIONS)
    await runStatements(
      database,
      projection.added({ rows: rawSql('nft_transfers'), subjects, access: LOCAL_ACCESS }),
    );
  await database.query(sql`DELETE FROM nft_transfers WHERE block_number >= ${REMOVED_FROM}`);
});

async function seed(from: number, below: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO nft_transfers SELECT address_key(${addressBytes(BUSY)}), ${chain.id}, block, place, 0, 0, 0, ${addressBytes(BUSY)}, 1000 + (block * 7919 + place) % 9000,
         NULL, decode(lpad(to_hex(10 + (block + 1) % 50), 40, '0'), 'hex'), decode(lpad(to_hex(10 + block % 50), 40, '0'), 'hex'), 1, NULL,
         sha256(block::text::bytea)
       FROM generate_series(${from}::int, ${below}::int - 1) AS block, generate_series(0, ${rawSql(MOVES_OF_BLOCK - 1)}) AS place`,
  );
}

const subjectOf = (subject: Address): Sql =>
  sql`(SELECT ${addressBytes(subject)}::bytea AS subject, 1000000 AS built_to)`;
const PROJECTIONS = [
  [nftWalletTokens, subjectOf(WALLET)],
  [nftCollectionOwners, subjectOf(BUSY)],
] as const;

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  beforeAll(() => prepare(scratch.database), 60_000);

  // Without statistics, the key's index looks as good for a token as the token index, as in
  // nft-transfers-page.explain.test.ts.
  test.skipIf(statistics === 'without statistics').each(PROJECTIONS)(
    'finds what is left of ids whose rows are removed by the index by token',
    async (projection, subjects) => {
      const change = { rows: rawSql('gone'), subjects, remaining: rawSql('nft_transfers'), access: LOCAL_ACCESS };
      for (const statement of projection.removed(change).slice(0, 2)) {
        const { nodes } = await explain(scratch.database, statementOf(statement), plan);
        const scans = nodes.filter((node) => node['Relation Name']?.startsWith('nft_transfers_') === true);
        expect(scans.length).toBeGreaterThan(0);
        for (const scan of scans) {
          expect(scan['Node Type']).toMatch(/^(Bitmap )?(Index|Heap)/);
          if (scan['Index Cond'] !== undefined)
            expect(scan['Index Cond']).toMatch(/collection_key = .*hash_numeric\(token_id\) = /);
        }
        const read = scans.reduce(
          (sum, scan) =>
            sum + (scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0)) * scan['Actual Loops'],
          0,
        );
        expect(read).toBeLessThanOrEqual(10 * MOVES_OF_BLOCK * 30);
      }
    },
  );
});
