import { silentLogger } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import pg from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Transaction } from './database.ts';
import { openDatabase } from './open-database.ts';
import { sql } from './sql.ts';

describe('database', () => {
  const scratch = scratchOfFile();

  beforeAll(async () => {
    await scratch.database.query(
      sql`CREATE TABLE notes (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, body text)`,
    );
  });

  async function ids(): Promise<number[]> {
    const rows = await scratch.database.query<{ id: number }>(sql`SELECT id FROM notes ORDER BY id`);
    return rows.map(({ id }) => id);
  }

  test('values arrive in the types that the contract names', async () => {
    const [row] = await scratch.database.query(
      sql`SELECT 9007199254740991::bigint AS big, '{1,NULL,-3}'::bigint[] AS bigs, '{}'::bigint[] AS none,
              (2::numeric ^ 255) AS amount, ARRAY[115792089237316195423570985008687907853269984665640564039457584007913129639935, NULL]::numeric[] AS ids,
               '2026-01-02 03:04:05.678+00'::timestamptz AS moment, '\\x00ff'::bytea AS bytes, ${'x'}::text AS given`,
    );
    expect(row).toEqual({
      big: Number.MAX_SAFE_INTEGER,
      bigs: [1, null, -3],
      none: [],
      amount: expect.stringMatching(
        /^57896044618658097711785492504343953926634992332820282019728792003956564819968(\.0+)?$/,
      ),
      ids: ['115792089237316195423570985008687907853269984665640564039457584007913129639935', null],
      moment: new Date('2026-01-02T03:04:05.678Z'),
      bytes: Buffer.from([0, 255]),
      given: 'x',
    });
  });

  test('an integer that a number cannot hold is an error, not a wrong number', async () => {
    await expect(scratch.database.query(sql`SELECT 9007199254740993::bigint AS n`)).rejects.toMatchObject({
      code: 'DATABASE_INTEGER_TOO_LARGE',
    });
    expect(await scratch.database.query(sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
  });

  test('parsers of other users of pg in the process are left alone', () => {
    expect(pg.types.getTypeParser(20, 'text')('5')).toBe('5');
  });

  test('a transaction keeps everything or nothing', async () => {
    await scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`INSERT INTO notes VALUES (1)`);
    });
    const failing = scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`INSERT INTO notes VALUES (2)`);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await ids()).toEqual([1]);
  });

  test('an error of the commit itself reaches the caller', async () => {
    const failing = scratch.database.transaction((transaction) =>
      transaction.query(sql`INSERT INTO notes VALUES (1)`),
    );
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    expect(await ids()).toEqual([1]);
  });

  test('a transaction that swallowed an error is reported as not committed', async () => {
    const work = scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`INSERT INTO notes VALUES (3)`);
      await transaction.query(sql`SELECT 1/0`).catch(() => 'ignored');
    });
    await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_NOT_COMMITTED' });
    expect(await ids()).toEqual([1]);
  });

  test('a connection that broke in a transaction is thrown away', async () => {
    const single = openDatabase({
      url: scratch.url,
      applicationName: 'single',
      poolSize: 1,
      logger: silentLogger(),
    });
    const work = single.transaction(async (transaction) => {
      const [{ pid } = { pid: 0 }] = await transaction.query<{ pid: number }>(
        sql`SELECT pg_backend_pid() AS pid`,
      );
      await scratch.database.query(sql`SELECT pg_terminate_backend(${pid})`);
      await transaction.query(sql`SELECT 1`);
    });
    await expect(work).rejects.toThrow();
    expect(await single.query(sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
    await single.close();
  });

  test('an idle connection that breaks is logged and replaced', async () => {
    const logger = silentLogger();
    const debug = vi.spyOn(logger, 'debug');
    const single = openDatabase({ url: scratch.url, applicationName: 'idle', poolSize: 1, logger });
    await single.query(sql`SELECT 1`);
    await scratch.database.query(
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idle'`,
    );
    await vi.waitFor(() =>
      expect(debug).toHaveBeenCalledWith(expect.anything(), 'Idle database connection lost'),
    );
    expect(await single.query(sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
    await single.close();
  });

  test('close may be called twice', async () => {
    const other = openDatabase({ url: scratch.url, applicationName: 'other', logger: silentLogger() });
    await other.query(sql`SELECT 1`);
    await other.close();
    await other.close();
    await expect(other.query(sql`SELECT 1`)).rejects.toThrow();
  });

  describe('statements that are sent together', () => {
    const requested = async (transaction: Transaction, number: number) =>
      (await transaction.query<{ n: number }>(sql`SELECT ${number}::int AS n`))[0]?.n;

    test('are answered each by its own answer, and what comes later by its own', async () => {
      const answers = await scratch.database.transaction(async (transaction) => [
        ...(await transaction.together(() => [
          requested(transaction, 1),
          requested(transaction, 2),
          requested(transaction, 3),
        ])),
        await requested(transaction, 4),
      ]);
      expect(answers).toEqual([1, 2, 3, 4]);
    });

    test('fail with the first that does, once all are answered, and the connection stays of use', async () => {
      const single = openDatabase({
        url: scratch.url,
        applicationName: 'ask',
        poolSize: 1,
        logger: silentLogger(),
      });
      for (const failing of [0, 1, 2]) {
        const work = single.transaction((transaction) =>
          transaction.together(() =>
            [0, 1, 2].map((place) =>
              place === failing ? transaction.query(sql`SELECT 1 / 0 AS nothing`) : requested(transaction, place),
            ),
          ),
        );
        await expect(work).rejects.toMatchObject({ code: '22012' });
        expect(await single.query(sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
      }
      await single.close();
    });
  });

  describe('copy', () => {
    function* numbered(count: number): Generator<string> {
      for (let id = 1; id <= count; id += 1) yield `${id + 1_000}\tline ${id} ${'x'.repeat(100)}`;
    }

    test('streams any number of lines, and says how many', async () => {
      const copied = await scratch.database.transaction((transaction) =>
        transaction.copy('notes', ['id', 'body'], numbered(20_000)),
      );
      expect(copied).toBe(20_000);
      expect(await scratch.database.query(sql`SELECT count(*) AS n FROM notes WHERE id > 1000`)).toEqual([
        { n: 20_000 },
      ]);
      await scratch.database.query(sql`DELETE FROM notes WHERE id > 1000`);
    });

    test('no lines are no rows', async () => {
      const copied = await scratch.database.transaction((transaction) => transaction.copy('notes', ['id'], []));
      expect(copied).toBe(0);
    });

    test('a line that the table refuses fails the transaction, and the connection stays of use', async () => {
      const single = openDatabase({
        url: scratch.url,
        applicationName: 'copy',
        poolSize: 1,
        logger: silentLogger(),
      });
      const [before] = await single.query(sql`SELECT pg_backend_pid() AS pid`);
      const failing = single.transaction((transaction) => transaction.copy('notes', ['id'], ['7', 'seven']));
      await expect(failing).rejects.toMatchObject({ code: '22P02' });
      expect(await single.query(sql`SELECT pg_backend_pid() AS pid`)).toEqual([before]);
      expect(await ids()).toEqual([1]);
      await single.close();
    });

    test('an error of whoever makes the lines fails the transaction, and the connection stays of use', async () => {
      const single = openDatabase({
        url: scratch.url,
        applicationName: 'copy',
        poolSize: 1,
        logger: silentLogger(),
      });
      function* broken(): Generator<string> {
        yield* numbered(2_000);
        throw new Error('no more lines');
      }
      const failing = single.transaction((transaction) => transaction.copy('notes', ['id', 'body'], broken()));
      await expect(failing).rejects.toThrow('no more lines');
      expect(await single.query(sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
      expect(await ids()).toEqual([1]);
      await single.close();
    });

    describe('of several tables together', () => {
      const notes = (...lines: readonly string[]) => ({ table: 'notes', columns: ['id', 'body'], lines });

      test('gives each its rows, and says how many, also where there are none', async () => {
        await scratch.database.query(sql`CREATE TABLE marks (id int)`);
        const many = [...numbered(20_000)].map((line) => `${line}é`);
        const copied = await scratch.database.transaction((transaction) =>
          transaction.copyTogether([
            { table: 'marks', columns: ['id'], lines: ['5', '6'] },
            notes(...many),
            { table: 'marks', columns: ['id'], lines: [] },
            { table: 'marks', columns: ['id'], lines: ['7'] },
          ]),
        );
        expect(copied).toEqual([2, 20_000, 0, 1]);
        expect(await scratch.database.query(sql`SELECT array_agg(id ORDER BY id) AS ids FROM marks`)).toEqual([
          { ids: [5, 6, 7] },
        ]);
        const [row] = await scratch.database.query(
          sql`SELECT count(*) AS n, bool_and(body = format('line %s %sé', id - 1000, repeat('x', 100))) AS whole FROM notes WHERE id > 1000`,
        );
        expect(row).toEqual({ n: 20_000, whole: true });
        await scratch.database.query(sql`DELETE FROM notes WHERE id > 1000`);
        expect(await scratch.database.transaction((transaction) => transaction.copyTogether([]))).toEqual([]);
      });

      test('fails as a whole where one table refuses a line, and the connection stays of use', async () => {
        const single = openDatabase({
          url: scratch.url,
          applicationName: 'copy',
          poolSize: 1,
          logger: silentLogger(),
        });
        const [before] = await single.query(sql`SELECT pg_backend_pid() AS pid`);
        for (const copies of [
          [notes('8\teight', 'nine\tnine'), notes(...numbered(9_000))],
          [notes(...numbered(9_000)), { table: 'nowhere', columns: ['id'], lines: ['1'] }, notes('8\teight')],
        ])
          await expect(
            single.transaction((transaction) => transaction.copyTogether(copies)),
          ).rejects.toMatchObject({
            code: expect.stringMatching(/^(22P02|42P01)$/),
          });
        expect(await single.query(sql`SELECT pg_backend_pid() AS pid`)).toEqual([before]);
        expect(await ids()).toEqual([1]);
        await single.close();
      });
    });

    test('names are quoted', async () => {
      await scratch.database.query(sql`CREATE TABLE "select" ("Order; by" int)`);
      await scratch.database.transaction((transaction) => transaction.copy('select', ['Order; by'], ['5']));
      expect(await scratch.database.query(sql`SELECT * FROM "select"`)).toEqual([{ 'Order; by': 5 }]);
    });
  });
});
