import { sql } from '@chainstead/db';
import { findTableMismatches } from '@chainstead/sync/ingest';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { getTableName } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { datasets } from './registry.ts';

const scratch = scratchOfFile();

/** Indexes in the database, as the migrations made it. */
async function definitionsOf(table: string): Promise<string[]> {
  const rows = await scratch.database.query<{ text: string }>(
    sql`SELECT indexdef AS text FROM pg_indexes WHERE tablename = ${table}`,
  );
  return rows.map(({ text }) => text);
}

describe('projections', () => {
  const states = [...new Set(datasets.flatMap(({ projections = [] }) => projections))];

  test('have names of their own', () => {
    const names = states.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test('own their tables', () => {
    // Those of counts of wallets forget rows of the same table.
    const own = states.filter(({ name }) => !name.startsWith('wallet-counts-of-'));
    const tables = own.flatMap((state) => state.tables.map(getTableName));
    expect(tables).toEqual([...new Set(tables)]);
  });
});

// Invariant: SYNC-TABLES-MATCH
test('the migrations make the tables that the datasets say', async () => {
  expect(await findTableMismatches(scratch.database, datasets)).toEqual([]);
});

describe.each(datasets.map(({ name, table }) => ({ name, table })))('the table of $name', ({ table }) => {
  test('finds the rows of a range of blocks by an index, as rollbacks do', async () => {
    const definitions = await definitionsOf(table.name);
    expect(definitions).toContainEqual(
      expect.stringMatching(
        / USING brin \(chain_id, block_number int[48]_minmax_multi_ops\) .*autosummarize=('?)(true|on)\1/,
      ),
    );
  });
});
