import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type Statement } from '@chainstead/db';
import {
  addressOf,
  createPartitions,
  createScratchDatabase,
  exampleChain,
  explain,
  PLANS,
  type PlanNode,
  rowsScanned,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Seven of ten rows are of the busy collection, which has three moves of one id and three in a thousand of another.
const BLOCKS = 10_000;
const ROWS_A_BLOCK = 10;
const CUTS = [2_000, 4_000, 6_000, 8_000];
const BUSY = addressOf(1);
const RARE_ID = '57896044618658097711785492504343953926634992332820282019728792003956564819968';
const LIMIT = 100;
const chain = exampleChain();

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase({ autovacuum: false });
  await createPartitions(scratch.database, 'nft_transfers', chain.id, CUTS);
  await seed(0, 200);
  await scratch.database.query('ANALYZE');
  await seed(200, BLOCKS);
});
afterAll(() => scratch.drop());

async function seed(from: number, below: number): Promise<void> {
  await scratch.database.query(
    `INSERT INTO nft_transfers SELECT address_key(token), $1, block, place / 2, place, 0, 0, token,
         CASE WHEN place = 0 AND block % 3000 = 77 THEN ${RARE_ID} WHEN place = 1 AND block % 50 = 0 THEN 7 ELSE 1000 + (block * 7919 + place) % 9000 END,
         NULL, $2, $2, 1, NULL, sha256(block::text::bytea)
       FROM generate_series($3::int, $4::int - 1) AS block, generate_series(0, ${ROWS_A_BLOCK - 1}) AS place,
         LATERAL (SELECT decode(lpad(to_hex(CASE WHEN place < 7 THEN 1 ELSE 100 + (block * 31 + place) % 500 END), 40, '0'), 'hex')) AS of(token)`,
    [chain.id, addressBytes(addressOf(9)), from, below],
  );
}

/** A page of a collection's or a token's transfers, newest first, as a route would ask for it. */
function page(token: Address, id: string | null): Statement {
  const ofId =
    id === null ? '' : `AND token_id_key(token_id) = token_id_key($3) AND ${expectedTrue('token_id = $3::numeric')}`;
  return {
    text: `SELECT token_id, transaction_hash FROM nft_transfers
      WHERE collection_key = address_key($1) AND chain_id = $2 AND ${expectedTrue('token_address = $1::bytea')} ${ofId}
      ORDER BY block_number DESC, transaction_index DESC, log_index DESC, item DESC LIMIT ${LIMIT + 1}`,
    values: [addressBytes(token), chain.id, ...(id === null ? [] : [id])],
  };
}

const isOfTransfers = (node: PlanNode): boolean => node['Relation Name']?.startsWith('nft_transfers_') === true;

const PAGES = [
  ['a busy collection', BUSY, null, LIMIT + 1],
  ['another collection', addressOf(150), null, 60],
  ['a token that moved often', BUSY, '7', LIMIT + 1],
  ['a token that moved three times', BUSY, RARE_ID, 4],
  ['a collection without rows', addressOf(3), null, 0],
] as const;

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  // Without any, the key's index looks as good for a token as its own, as for ERC-20.
  const pages = PAGES.filter(([, , id]) => id === null || statistics !== 'without statistics');

  beforeAll(() => prepare(scratch.database));

  test.each(pages)(
    '%s is read partition by partition in the order of an index, no further than a page',
    async (...given) => {
      const [, token, id, rows] = given;
      const { nodes } = await explain(scratch.database, page(token, id), plan);
      const scans = nodes.filter(isOfTransfers);
      expect(scans.length).toBeGreaterThanOrEqual(1);
      expect(rowsScanned(scans)).toBeLessThanOrEqual(1.4 * (LIMIT + 1));
      expect(nodes[0]?.['Actual Rows']).toBe(rows);
      for (const scan of scans.filter((node) => node['Node Type'].startsWith('Index')))
        expect(scan['Index Cond']).toMatch(id === null ? /collection_key = / : /hash_numeric\(token_id\) = /);
      // A bitmap is for what fits a page, and is sorted then.
      if (rows > LIMIT) expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    },
  );
});
