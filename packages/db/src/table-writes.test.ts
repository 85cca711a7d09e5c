import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TABLE_WRITES } from './table-writes.ts';

describe('every table has its kind of writes', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());

  test('each table has a kind, and each kind a table', async () => {
    const tables = await scratch.database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    expect(tables.map(({ name }) => name).toSorted()).toEqual(Object.keys(TABLE_WRITES).toSorted());
  });
});
