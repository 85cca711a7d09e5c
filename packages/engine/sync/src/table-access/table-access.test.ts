import { rawSql, type Sql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defineSqlLookup, keyOfLookup } from './sql-lookup.ts';
import { runProjection, type TableAccess } from './table-access.ts';

const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(
    sql`CREATE TABLE sums (owner text, kind int, total int, newest int, PRIMARY KEY (owner, kind))`,
  );
  await scratch.database.query(sql`CREATE TABLE moves (owner text, kind int, at int, amount int)`);
});
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE sums, moves`);
  await scratch.database.query(
    sql`INSERT INTO sums VALUES ('it''s me', 1, 10, 3), ('it''s me', 2, 20, 4), ('nobody', 1, 30, 5)`,
  );
  await scratch.database.query(
    sql`INSERT INTO moves VALUES ('it''s me', 1, 1, 4), ('it''s me', 1, 2, 5), ('it''s me', 2, 9, 20), ('nobody', 1, 7, 30)`,
  );
});

const sums = pgTable('sums', { owner: text('owner'), kind: integer('kind') });
const TOUCHED = sql`(VALUES (${"it's me"}::text, 1), ('new', 1)) AS touched(owner, kind)`;

/** Increments the touched keys twice, and looks up the newest move of each. */
function statements(access: TableAccess): readonly Sql[] {
  const wanted = sql`SELECT owner, kind FROM ${TOUCHED}`;
  const stored = access.stored({ table: sums, key: ['owner', 'kind'], wanted });
  const newest = defineSqlLookup({
    name: 'newest_moves',
    by: { owner: 'text', kind: 'integer' },
    wanted,
    found: { at: 'integer' },
    find: (at) =>
      sql`SELECT at FROM moves WHERE owner = ${at.owner} AND kind = ${at.kind} ORDER BY at DESC LIMIT 1`,
  });
  const add = sql`INSERT INTO sums SELECT owner, kind, coalesce(known.total, 0) + 1, -1 FROM ${TOUCHED} LEFT JOIN ${stored} AS known USING (owner, kind)
    ON CONFLICT (owner, kind) DO UPDATE SET total = excluded.total`;
  const find = sql`WITH found AS MATERIALIZED (
    SELECT touched.owner, touched.kind, newest.at FROM ${TOUCHED} LEFT JOIN LATERAL (${access.lookup(newest, keyOfLookup('touched', newest))}) AS newest ON true)
  UPDATE sums SET newest = coalesce(found.at, -1) FROM found WHERE (sums.owner, sums.kind) = (found.owner, found.kind)`;
  return [add, add, find];
}

describe.each([
  ['in place', false],
  ['fetched before', true],
])('what is stored, read %s', (_how, spread) => {
  test('is what it is when the statement runs, of what is wanted', async () => {
    for (let turn = 1; turn <= 2; turn++) {
      await scratch.database.transaction((transaction) => runProjection(transaction, spread, statements));
      expect(await scratch.database.query(sql`SELECT * FROM sums ORDER BY owner, kind`)).toEqual([
        { owner: "it's me", kind: 1, total: 10 + 2 * turn, newest: 2 },
        { owner: "it's me", kind: 2, total: 20, newest: 4 },
        { owner: 'new', kind: 1, total: 2 * turn, newest: -1 },
        { owner: 'nobody', kind: 1, total: 30, newest: 5 },
      ]);
    }
  });
});

test('only what is wanted is fetched', async () => {
  await scratch.database.transaction(async (transaction) => {
    const seen: number[] = [];
    await runProjection(transaction, true, (access) => {
      const stored = access.stored({
        table: sums,
        key: ['owner'],
        wanted: sql`SELECT ${"it's me"}::text AS owner`,
      });
      return [
        rawSql('CREATE TEMP TABLE IF NOT EXISTS seen (total int) ON COMMIT DROP'),
        sql`INSERT INTO seen SELECT total FROM ${stored} AS known`,
      ];
    });
    for (const { total } of await transaction.query<{ total: number }>(
      sql`SELECT total FROM seen ORDER BY total`,
    ))
      seen.push(total);
    expect(seen).toEqual([10, 20]);
  });
});
