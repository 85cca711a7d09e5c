import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { datasets } from './registry.ts';

const scratch = scratchOfFile();

/** Of the database, as the migrations made it. */
async function texts(statement: string, table: string): Promise<string[]> {
  const rows = await scratch.database.query<{ text: string }>(statement, [table]);
  return rows.map(({ text }) => text);
}

describe('derived states', () => {
  const states = [...new Set(datasets.flatMap(({ derived = [] }) => derived))];

  test('have names of their own', () => {
    const names = states.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test('own tables that know the chain, each its own', async () => {
    // Those of counts of wallets forget rows of the same table.
    const own = states.filter(({ name }) => !name.startsWith('wallet-counts-of-'));
    const tables = own.flatMap((state) => state.tables);
    const [found] = await scratch.database.query<{ tables: string[] }>(
      `SELECT array_agg(table_name::text) AS tables FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name = 'chain_id' AND table_name = ANY($1::text[])`,
      [tables],
    );
    expect(found?.tables.toSorted()).toEqual(tables.toSorted());
  });
});

describe.each(datasets.map(({ name, table }) => ({ name, table })))('the table of $name', ({ table }) => {
  test('has the columns of its schema, in that order', async () => {
    const columns = await texts(
      `SELECT column_name AS text FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position`,
      table.name,
    );
    expect(table.columns).toEqual(columns);
  });

  test('has the key of its schema', async () => {
    const key = await texts(
      `SELECT attname AS text FROM pg_index, unnest(indkey::int2[]) WITH ORDINALITY AS k (attnum, position)
         JOIN pg_attribute AS a USING (attnum) WHERE indrelid = $1::regclass AND attrelid = indrelid AND indisprimary ORDER BY position`,
      table.name,
    );
    expect(table.key).toEqual(key);
  });

  test('finds the rows of a range of blocks by an index, as rollbacks do', async () => {
    const definitions = await texts('SELECT indexdef AS text FROM pg_indexes WHERE tablename = $1', table.name);
    expect(definitions).toContainEqual(
      expect.stringMatching(
        / USING brin \(chain_id, block_number int[48]_minmax_multi_ops\) .*autosummarize=('?)(true|on)\1/,
      ),
    );
  });
});
