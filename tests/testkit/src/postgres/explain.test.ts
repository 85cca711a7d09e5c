import { rawSql, sql } from '@chainstead/db';
import { beforeAll, expect, test } from 'vitest';
import { scratchOfFile } from '../hooks.ts';
import { explain, rowsRead } from './explain.ts';

const scratch = scratchOfFile();

beforeAll(async () => {
  const { database } = scratch;
  await database.query(sql`CREATE TABLE parted (chain_id int, number int) PARTITION BY RANGE (chain_id, number)`);
  for (const [name, from, to] of [
    ['parted_1_minvalue', 'MINVALUE', '50'],
    ['parted_1_50', '50', 'MAXVALUE'],
  ])
    await database.query(
      rawSql(`CREATE TABLE ${name} PARTITION OF parted FOR VALUES FROM (1, ${from}) TO (1, ${to})`),
    );
  await database.query(sql`CREATE TABLE parted_beside (chain_id int, number int)`);
  for (const table of ['parted', 'parted_beside'])
    await database.query(
      sql`INSERT INTO ${rawSql(table)} SELECT 1, number FROM generate_series(1, 100) AS number`,
    );
});

test('rows read of a table are those of all its partitions, wanted or not, and of no other table', async () => {
  const read = async (text: string, table: string) =>
    rowsRead((await explain(scratch.database, rawSql(text), 'generic')).nodes, table);
  expect(await read('SELECT * FROM parted', 'parted')).toBe(100);
  expect(await read('SELECT * FROM parted WHERE chain_id = 1 AND number >= 90', 'parted')).toBe(51);
  expect(await read('SELECT * FROM parted WHERE number % 2 = 0', 'parted_1_minvalue')).toBe(49);
  expect(await read('SELECT * FROM parted, (SELECT count(*) FROM parted_beside) AS other', 'parted')).toBe(100);
});
