/** Every view, and every query of docs/api/sql-examples.md, returns the same rows on a Citus cluster as on one server. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createScratchDatabase, findCitus, type ScratchCitus, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTED_QUERIES, seedAnalytics } from './testing/seeded-analytics.ts';

const programs = await findCitus('views for SQL on a cluster');
const eth = createChainRegistry().get('eth');
const TIMEOUT_MS = 180_000;
const CITUS = readFileSync(
  fileURLToPath(new URL('../../../../../docs/operate/citus.md', import.meta.url)),
  'utf8',
);
/** What the document has an operator run. */
const GRANT = /```sql\n *(DO [^`]*GRANT SELECT[^`]*)```/.exec(CITUS)?.[1] ?? '';
/** Views without seeded rows. */
const EMPTY: ReadonlySet<string> = new Set(['gateway_usage', 'internal_transfers', 'logs', 'wrapped_coin_moves']);

describe.runIf(programs !== undefined)('views for SQL on a cluster', () => {
  let cluster: ScratchCitus;
  let spread: ScratchDatabase;
  let single: ScratchDatabase;
  beforeAll(async () => {
    if (programs === undefined) throw new Error('There is no Citus');
    cluster = await programs.createCluster();
    [spread, single] = await Promise.all([
      cluster.createDatabase({ distributed: true }),
      createScratchDatabase(),
    ]);
    for (const { database } of [spread, single]) await seedAnalytics(database, eth);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await spread?.drop();
    await single?.drop();
    await cluster?.remove();
  });

  test('have the rows of one server', { timeout: TIMEOUT_MS }, async () => {
    const views = await viewsOf(single);
    expect(views.length).toBeGreaterThan(20);
    for (const { name } of views) {
      const expected = await rowsOf(single, name);
      expect([name, await rowsOf(spread, name)]).toEqual([name, expected]);
      if (!EMPTY.has(name)) expect([name, expected.length > 0]).toEqual([name, true]);
    }
  });

  test('are read by whom the tables below them are granted to as docs/operate/citus.md tells, and nothing else is', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { database } = spread;
    const analyst = `analyst_${Date.now()}`;
    await database.query(sql`CREATE ROLE ${rawSql(analyst)} LOGIN IN ROLE chainstead_reader`);
    const url = new URL(spread.url);
    url.username = analyst;
    const reader = openDatabase({ url: url.href, applicationName: 'reader', logger: silentLogger() });
    try {
      await expect(reader.query(sql`SELECT * FROM analytics.erc20_transfers`)).rejects.toThrow(
        /permission denied/,
      );
      await database.query(rawSql(GRANT.replaceAll('analyst', analyst)));
      for (const { name } of await viewsOf(single))
        expect([name, await rowsOf({ database: reader }, name)]).toEqual([name, await rowsOf(single, name)]);
      for (const table of ['api_keys', 'server_secrets', 'streams'])
        await expect(reader.query(sql`SELECT * FROM public.${rawSql(table)}`)).rejects.toThrow(
          /permission denied/,
        );
    } finally {
      await reader.close();
    }
  });

  test.each(DOCUMENTED_QUERIES)('answer as on one server: %s', { timeout: TIMEOUT_MS }, async (_title, sql) => {
    const [own, expected] = [await answerOf(spread, sql), await answerOf(single, sql)];
    expect(own).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  });
});

function viewsOf({ database }: ScratchDatabase): Promise<{ name: string }[]> {
  return database.query(
    sql`SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'analytics' ORDER BY 1`,
  );
}

/** Without what says when something was written. */
async function answerOf({ database }: ScratchDatabase, sql: string): Promise<readonly object[]> {
  const rows = await database.query<{ latest?: Date }>(rawSql(sql));
  return rows.map(({ latest: _, ...row }) => row);
}

/** Sorted, without what says when something was written. */
async function rowsOf({ database }: Pick<ScratchDatabase, 'database'>, view: string): Promise<readonly string[]> {
  const columns = await database.query<{ name: string }>(
    sql`SELECT attname AS name FROM pg_attribute WHERE attrelid = ${`analytics.${view}`}::regclass AND attnum > 0 ORDER BY attname`,
  );
  const compared = columns.flatMap(({ name }) =>
    /_at$|^updated/.test(name) ? [] : [`${name}::text AS ${name}`],
  );
  const rows = await database.query(sql`SELECT ${rawSql(compared.join(', '))} FROM analytics.${rawSql(view)}`);
  return rows.map((row) => JSON.stringify(row)).toSorted();
}
