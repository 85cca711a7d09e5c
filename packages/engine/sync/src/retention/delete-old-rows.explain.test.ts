import { type Database, sql } from '@chainstead/db';
import { explain, PLANS, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { deletion, IN_ORDER_OF_KEY, lastOfOldest } from './delete-old-rows.ts';

const ROWS = 40_000;
const PER_BLOCK = 4;
const table = { name: 'placed_rows' };
const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  await database.query(
    sql`CREATE TABLE placed_rows (chain_id bigint, block_number bigint, log_index integer, PRIMARY KEY (chain_id, block_number, log_index))`,
  );
  await database.query(sql`INSERT INTO placed_rows VALUES (1, 0, 0)`);
  await database.query(sql`ANALYZE`);
  await database.query(
    sql`INSERT INTO placed_rows SELECT chain_id, 1 + n / ${PER_BLOCK}::int, n % ${PER_BLOCK}::int
       FROM unnest('{1,2}'::bigint[]) AS chain_id CROSS JOIN generate_series(0, ${ROWS}::int - 1) AS n`,
  );
});

/** The database with the setting of the transactions that delete. */
function inOrder(): Database {
  const { database } = scratch;
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (transaction) => {
        await transaction.query(IN_ORDER_OF_KEY);
        return work(transaction);
      }),
  };
}

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('the end of the oldest rows is found in as many rows of the key', async () => {
    const { nodes } = await explain(inOrder(), lastOfOldest(table, 1, 9_000, 100), plan);
    expect(rowsRead(nodes, table.name)).toBeLessThanOrEqual(101);
  });

  test('nothing is read if no row is old', async () => {
    const { nodes } = await explain(inOrder(), lastOfOldest(table, 1, 0, 100), plan);
    expect(rowsRead(nodes, table.name)).toBe(0);
  });

  test('old rows are a range of the key', async () => {
    const { nodes } = await explain(scratch.database, deletion(table, 2, 1), plan);
    // The node that deletes returns the rows of the scan once more.
    const scans = nodes.filter((node) => node['Node Type'] !== 'ModifyTable');
    expect(rowsRead(scans, table.name)).toBeLessThanOrEqual(PER_BLOCK + 1);
  });
});
