import { addressBytes, sql, statementOf } from '@chainstead/db';
import { addressOf, createPartitions, exampleChain, explain, PLANS, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { tokenHoldersStatement } from '../single-nfts/token-holders.ts';
import { recordsStatement } from './record-pages.ts';

// A collection whose ids move six times each on average, one that moves constantly, and some that never do, in five
// partitions.
const BUSY = addressOf(1);
const BLOCKS = 10_000;
const TOKENS = 100;
const READING = { hasMints: true, hasRanges: true };
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'nft_transfers', chain.id, [2_000, 4_000, 6_000, 8_000]);
  await seed(0, 200);
  await scratch.database.query(sql`ANALYZE`);
  await seed(200, BLOCKS);
  await scratch.database.query(
    sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, metadata)
     SELECT ${addressBytes(BUSY)}, ${chain.id}, number, 'known', '{}' FROM generate_series(1000, 9999) AS number`,
  );
});

async function seed(from: number, below: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO nft_transfers SELECT address_key(token), ${chain.id}, block, place, 0, 0, CASE WHEN place < 7 THEN 0 ELSE 1 END, token,
         CASE WHEN place = 0 THEN 7 ELSE 1000 + (block * 7919 + place) % 9000 END,
         NULL, ${addressBytes(addressOf(9))}, decode(lpad(to_hex(10 + block % 50), 40, '0'), 'hex'), 1, NULL, sha256(block::text::bytea)
       FROM generate_series(${from}::int, ${below}::int - 1) AS block, generate_series(0, 9) AS place,
         LATERAL (SELECT decode(lpad(to_hex(CASE WHEN place < 7 THEN 1 ELSE 2 END), 40, '0'), 'hex')) AS of(token)`,
  );
}

const keysOf = (address: typeof BUSY, first: number) =>
  Array.from({ length: TOKENS }, (_, index) => ({ address, tokenId: String(first + index) }));

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  beforeAll(() => prepare(scratch.database));

  // Without statistics, the key's index looks as good for a token as the token index, as in
  // nft-transfers-page.explain.test.ts.
  test.skipIf(statistics === 'without statistics').each([
    ['records of tokens that moved a few times', recordsStatement(chain, keysOf(BUSY, 1_000), READING), 30],
    ['records of tokens that never moved', recordsStatement(chain, keysOf(BUSY, 50_000), READING), 1],
    [
      'a record of a token that moves all the time',
      recordsStatement(chain, [{ address: BUSY, tokenId: '7' }], READING),
      300,
    ],
    ['holders of tokens that moved a few times', tokenHoldersStatement(chain, keysOf(BUSY, 1_000), READING), 30],
    ['holders of tokens that never moved', tokenHoldersStatement(chain, keysOf(BUSY, 50_000), READING), 2],
    ['holders of ids of ERC-1155', tokenHoldersStatement(chain, keysOf(addressOf(2), 1_000), READING), 30],
    [
      'a holder of a token that moves all the time',
      tokenHoldersStatement(chain, [{ address: BUSY, tokenId: '7' }], READING),
      2,
    ],
  ])('%s are ranges of the index by token', async (_name, statement, each) => {
    const { nodes } = await explain(scratch.database, statement, plan);
    const scans = nodes.filter((node) => node['Relation Name']?.startsWith('nft_transfers_') === true);
    expect(scans.length).toBeGreaterThan(0);
    const tokens = Math.max(
      ...statementOf(statement).values.map((value) => (Array.isArray(value) ? value.length : 0)),
    );
    for (const name of new Set(scans.map((node) => node['Relation Name'] ?? '')))
      expect(rowsRead(nodes, name)).toBeLessThanOrEqual(each * tokens);
    for (const node of scans.filter((scan) => scan['Actual Rows'] > 0 && scan['Node Type'].startsWith('Index')))
      expect(node['Index Cond']).toMatch(
        /hash_numeric\(token_id\) = |collection_key = .*chain_id|collection_key = /,
      );
    expect(
      nodes.filter((node) => node['Node Type'] === 'Seq Scan' && /^nft_t/.test(node['Relation Name'] ?? '')),
    ).toEqual([]);
  });
});
