import { silentLogger } from '@chainstead/core';
import { createScratchDatabase, startScratchPgBouncer } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../database.ts';
import { openDatabase } from '../open-database.ts';
import { rawSql, type Sql, sql, statementOf } from '../sql.ts';

interface Kept {
  readonly name: string;
  readonly statement: string;
  readonly genericPlans: number;
  readonly customPlans: number;
}

const scratch = scratchOfFile({ migrated: false });
const opened: Database[] = [];

beforeAll(async () => {
  await scratch.database.query(sql`CREATE TABLE notes (id int PRIMARY KEY, body text)`);
  await scratch.database.query(
    sql`INSERT INTO notes SELECT id, 'note ' || id FROM generate_series(1, 100) AS id`,
  );
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});

function openPrepared(options: { poolSize?: number; url?: string; sessionUrl?: string } = {}): {
  database: Database;
  warn: ReturnType<typeof vi.spyOn>;
} {
  const logger = silentLogger();
  const warn = vi.spyOn(logger, 'warn');
  const database = openDatabase({
    url: scratch.url,
    applicationName: 'prepared',
    poolSize: 1,
    prepared: true,
    settings: { plan_cache_mode: 'force_generic_plan' },
    logger,
    ...options,
  });
  opened.push(database);
  return { database, warn };
}

/** Returns the prepared statements of the only connection. */
const keptBy = (database: Database): Promise<Kept[]> =>
  database.query<Kept>(sql`SELECT name, statement, generic_plans, custom_plans FROM pg_prepared_statements`);

const bodyOf = (id: number | string): Sql => sql`SELECT body FROM notes WHERE id = ${id}`;
const BODY = statementOf(bodyOf(0)).text;

describe('a database that prepares its statements', () => {
  test('asks for one text under one name, planned once for all values', async () => {
    const { database } = openPrepared();
    for (const id of [1, 2, 3]) expect(await database.query(bodyOf(id))).toEqual([{ body: `note ${id}` }]);
    const controller = new AbortController();
    expect(await database.until(controller.signal, 'cancel').query(bodyOf(4))).toEqual([{ body: 'note 4' }]);
    expect(await keptBy(database)).toEqual([
      { name: expect.stringMatching(/^chainstead_/), statement: BODY, genericPlans: 4, customPlans: 0 },
    ]);
  });

  test('prepares no query without values, but every read, and nothing in transactions', async () => {
    const { database } = openPrepared();
    await database.query(sql`SELECT 1`);
    await database.transaction((transaction) => transaction.query(bodyOf(1)));
    expect(await keptBy(database)).toEqual([]);
    await database.select(sql`SELECT 1`);
    expect(await keptBy(database)).toMatchObject([{ statement: 'SELECT 1' }]);
  });

  test('keeps a bounded number of statements, those that were used last', async () => {
    const { database } = openPrepared();
    const numbered = (index: number, id = 1) =>
      sql`SELECT body, ${rawSql(index)} AS index FROM notes WHERE id = ${id}`;
    const text = (index: number) => statementOf(numbered(index)).text;
    for (let index = 0; index < 200; index++) {
      expect(await database.query(numbered(index))).toEqual([{ body: 'note 1', index }]);
      await database.query(bodyOf(1));
    }
    const kept = (await keptBy(database)).map(({ statement }) => statement);
    expect(kept.length).toBeLessThanOrEqual(60);
    expect(kept).toEqual(expect.arrayContaining([BODY, text(199)]));
    expect(kept).not.toContain(text(0));
    expect(await database.query(numbered(0, 2))).toEqual([{ body: 'note 2', index: 0 }]);
  });

  test('goes on after a failing statement, with the same connection', async () => {
    const { database } = openPrepared();
    await database.query(bodyOf(1));
    await expect(database.query(bodyOf('no number'))).rejects.toMatchObject({ code: '22P02' });
    await expect(database.query(sql`SELECT * FROM nowhere`)).rejects.toMatchObject({ code: '42P01' });
    await expect(database.query(sql`SELECT * FROM nowhere`)).rejects.toMatchObject({ code: '42P01' });
    expect(await database.query(bodyOf(2))).toEqual([{ body: 'note 2' }]);
    expect(await keptBy(database)).toMatchObject([{ statement: BODY }]);
  });

  test('gives the new columns of a table that a migration changes meanwhile', async () => {
    const { database, warn } = openPrepared();
    const all = (id: number) => sql`SELECT * FROM notes WHERE id = ${id}`;
    await database.query(all(1));
    await scratch.database.query(sql`ALTER TABLE notes ADD COLUMN tag text`);
    expect(await database.query(all(1))).toEqual([{ id: 1, body: 'note 1', tag: null }]);
    expect(await database.query(all(2))).toEqual([{ id: 2, body: 'note 2', tag: null }]);
    expect(await keptBy(database)).toMatchObject([{ statement: statementOf(all(1)).text }]);
    expect(warn).not.toHaveBeenCalled();
  });

  test('answers without prepared statements where a session lost them, and says so once', async () => {
    const { database, warn } = openPrepared();
    await database.query(bodyOf(1));
    await database.query(sql`DEALLOCATE ALL`);
    expect(await database.query(bodyOf(2))).toEqual([{ body: 'note 2' }]);
    expect(await database.query(bodyOf(3))).toEqual([{ body: 'note 3' }]);
    expect(warn).toHaveBeenCalledOnce();
  });
});

describe('behind PgBouncer in transaction mode', async () => {
  const server = await createScratchDatabase({ migrated: false });
  const bouncer = await startScratchPgBouncer(server.url, 'transaction');
  if (bouncer === undefined)
    process.stdout.write('NOT RUN: prepared statements behind PgBouncer (no pgbouncer on this machine)\n');
  afterAll(async () => {
    await bouncer?.stop();
    await server.drop();
  });

  test.runIf(bouncer !== undefined)(
    'statements are prepared where PgBouncer keeps them; elsewhere they are not, which is told once',
    async () => {
      const options = { url: bouncer?.url ?? '', sessionUrl: server.url, poolSize: 5 };
      const clients = [openPrepared(options), openPrepared(options), openPrepared(options)];
      const requested = Array.from({ length: 300 }, async (_, index) => {
        const statement = sql`SELECT ${index}::int AS given, ${rawSql(index % 7)} AS shape`;
        const rows = await clients[index % 3]?.database.query(statement);
        expect(rows).toEqual([{ given: index, shape: index % 7 }]);
      });
      await Promise.all(requested);
      for (const { warn } of clients)
        expect(warn).toHaveBeenCalledTimes(bouncer?.keepsStatements === true ? 0 : 1);
      // Transactions left open by the probe would block other clients.
      const left = await server.database.query<{ left: number }>(
        sql`SELECT count(*) AS left FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()`,
      );
      expect(left).toEqual([{ left: 0 }]);
    },
  );
});
