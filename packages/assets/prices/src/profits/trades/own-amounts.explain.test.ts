/** The transfers of wallets in blocks are read from one range of an index for each, in any plan. */
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { addressOf, createPartitions, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { ANN, BOB, CATS, eth, seedStage } from '../testing/profit-stage.ts';
import { movesStatement } from './own-amounts.ts';

const SIDES = 40_000;
/** Sides in the stale statistics. */
const ANALYZED = 2_000;
const PER_BLOCK = 4;

const scratch = scratchOfFile({ autovacuum: false });
const bytes = (hex: string) => sql`${hexBytes(hex)}::bytea`;

/** Three of four transfers of a block are those of the wallet. */
async function seedSides(first: number, last: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO erc20_transfer_sides (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
     SELECT address_key(account), ${rawSql(eth.id)}, number / ${rawSql(PER_BLOCK)}, 0, number % ${rawSql(PER_BLOCK)}, 0, account, ${bytes(CATS)}, ${bytes(addressOf(9))}, 5, sha256(number::text::bytea)
     FROM (SELECT number, CASE WHEN number % ${rawSql(PER_BLOCK)} = 0 THEN ${bytes(BOB)} ELSE ${bytes(ANN)} END AS account FROM generate_series(${first}::int, ${last}::int) AS number) AS numbered`,
  );
}

beforeAll(async () => {
  const { database } = scratch;
  await seedStage(database);
  await createPartitions(database, 'erc20_transfer_sides', eth.id, [SIDES / PER_BLOCK / 2]);
  await seedSides(1, ANALYZED);
  await database.query(sql`ANALYZE`);
  await seedSides(ANALYZED + 1, SIDES);
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('reads the transfers of wallets in 100 blocks, and no other ones', async () => {
    const wanted = Array.from({ length: 100 }, (_, index) => ({
      ...{ wallet: index % 2 === 0 ? ANN : BOB, block: 50 + 90 * index, transaction: 0 },
    }));
    const { nodes } = await explain(scratch.database, movesStatement(eth, wanted, false), plan);
    const scans = nodes.filter((node) => /^erc20_transfer_sides/.test(node['Relation Name'] ?? ''));
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    // Postgres rounds its averages.
    expect(Math.round(rowsScanned(scans))).toBe(50 * 3 + 50);
  });
});
