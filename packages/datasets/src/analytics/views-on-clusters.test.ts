/** Every view, and every query that docs/analytics.md tells, gives on a cluster of Citus what it gives on one server. */
import { createChainRegistry } from '@chainstead/chains';
import { createScratchDatabase, findCitus, type ScratchCitus, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTED_QUERIES, seedAnalytics } from './testing/seeded-analytics.ts';

const programs = await findCitus('views for SQL on a cluster');
const eth = createChainRegistry().get('eth');
const TIMEOUT_MS = 180_000;
/** Of these it is known that nothing is seeded. */
const EMPTY: ReadonlySet<string> = new Set(['gateway_usage', 'wrapped_coin_moves']);

describe.runIf(programs !== undefined)('views for SQL on a cluster', () => {
  let cluster: ScratchCitus;
  let spread: ScratchDatabase;
  let single: ScratchDatabase;
  beforeAll(async () => {
    if (programs === undefined) throw new Error('There is no Citus');
    cluster = await programs.createCluster();
    [spread, single] = await Promise.all([cluster.createDatabase({ distributed: true }), createScratchDatabase()]);
    for (const { database } of [spread, single]) await seedAnalytics(database, eth);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await spread?.drop();
    await single?.drop();
    await cluster?.remove();
  });

  test('have the rows of one server', { timeout: TIMEOUT_MS }, async () => {
    const views = await single.database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'analytics' ORDER BY 1`,
    );
    expect(views.length).toBeGreaterThan(20);
    for (const { name } of views) {
      const expected = await rowsOf(single, name);
      expect([name, await rowsOf(spread, name)]).toEqual([name, expected]);
      if (!EMPTY.has(name)) expect([name, expected.length > 0]).toEqual([name, true]);
    }
  });

  test.each(DOCUMENTED_QUERIES)('answer as on one server: %s', { timeout: TIMEOUT_MS }, async (_title, sql) => {
    const [own, expected] = [await answerOf(spread, sql), await answerOf(single, sql)];
    expect(own).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  });
});

/** Without what says when something was written. */
async function answerOf({ database }: ScratchDatabase, sql: string): Promise<readonly object[]> {
  const rows = await database.query<{ latest?: Date }>(sql);
  return rows.map(({ latest: _, ...row }) => row);
}

/** Sorted, without what says when something was written. */
async function rowsOf({ database }: ScratchDatabase, view: string): Promise<readonly string[]> {
  const columns = await database.query<{ name: string }>(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attname',
    [`analytics.${view}`],
  );
  const compared = columns.flatMap(({ name }) => (/_at$|^updated/.test(name) ? [] : [`${name}::text AS ${name}`]));
  const rows = await database.query(`SELECT ${compared.join(', ')} FROM analytics.${view}`);
  return rows.map((row) => JSON.stringify(row)).toSorted();
}
