/** Statements of agents on a real server, as a role with the rights of readers, and as roles with more. */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlReader, type SqlReader, type SqlReaderOptions } from './sql-reader.ts';
import { SqlRefusalError } from './sql-refusal.ts';

const scratch = scratchOfFile();
const suffix = randomBytes(6).toString('hex');
const AGENT = `agent_${suffix}`;
const roles = [AGENT];
let reader: SqlReader;

beforeAll(async () => {
  await createLogin(AGENT, 'IN ROLE chainstead_reader');
  reader = readerOf(AGENT);
});
afterAll(async () => {
  for (const role of roles) {
    await scratch.database.query(`DROP OWNED BY ${role}`);
    await scratch.database.query(`DROP ROLE ${role}`);
  }
});

async function createLogin(role: string, rights: string): Promise<void> {
  await scratch.database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' ${rights}`);
}

function urlOf(role: string): string {
  const url = new URL(scratch.url);
  url.username = role;
  url.password = 'secret';
  return url.href;
}

function readerOf(role: string, limits: Partial<SqlReaderOptions> = {}): SqlReader {
  return openSqlReader({ url: urlOf(role), logger: silentLogger(), ...limits });
}

async function refusal(sql: string, of = reader): Promise<{ readonly code: string; readonly message: string }> {
  const error: unknown = await of.read(sql).then(
    ({ rows }) => new Error(`Not refused: ${rows.join()}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SqlRefusalError)) throw error;
  expect(error.advice).not.toBe('');
  expect(error.message).not.toMatch(/postgres:\/\/|secret/);
  return { code: error.code, message: error.message };
}

describe('a statement is run', () => {
  test.each([
    ['SELECT 1 AS a', ['{"a":1}']],
    ['  select 1 AS a ;; \n', ['{"a":1}']],
    ['SELECT 1 AS a -- the end', ['{"a":1}']],
    ['/* first */ SELECT 2 AS a', ['{"a":2}']],
    ['WITH two AS (SELECT 2 AS b) SELECT b FROM two', ['{"b":2}']],
    ['VALUES (1), (2)', ['{"column1":1}', '{"column1":2}']],
    ['SELECT 1 AS a, 2 AS a', ['{"a":1,"a":2}']],
    ['SELECT 2::numeric ^ 255 AS large', [`{"large":${2n ** 255n}}`]],
    ["SELECT ';DROP TABLE x' AS text", ['{"text":";DROP TABLE x"}']],
    ['SELECT n FROM generate_series(1, 3) AS n ORDER BY n DESC', ['{"n":3}', '{"n":2}', '{"n":1}']],
    ['SELECT count(*) FROM tokens', ['{"count":0}']],
    ['SELECT count(*) FROM analytics.swaps', ['{"count":0}']],
    ['SELECT current_setting($$transaction_read_only$$) AS mode', ['{"mode":"on"}']],
    ['SELECT 1 WHERE false', []],
  ])('%s', async (sql, rows) => {
    expect(await reader.read(sql)).toEqual({ rows, hasMore: false });
  });

  test('and its rows end at the limit, each at 20,001 characters', async () => {
    expect(await readerOf(AGENT, { rowsMax: 3 }).read('SELECT n FROM generate_series(1, 1000000) AS n')).toEqual({
      rows: ['{"n":1}', '{"n":2}', '{"n":3}'],
      hasMore: true,
    });
    const { rows } = await reader.read("SELECT repeat('x', 50000000) AS text");
    expect(rows.map((row) => row.length)).toEqual([20_001]);
  });
});

describe('a hostile statement is refused', () => {
  test.each([
    ['several statements', 'SELECT 1; SELECT 2', '42601'],
    ['the end of the transaction first', 'SELECT 1; COMMIT; DROP TABLE public.tokens', '42601'],
    ['a write', 'INSERT INTO public.tokens DEFAULT VALUES', '42601'],
    ['a write in a query', 'WITH gone AS (DELETE FROM analytics.tokens RETURNING 1) SELECT * FROM gone', '0A000'],
    ['a new table', 'SELECT 1 AS a INTO stolen', '42601'],
    ['a new table by name', 'CREATE TABLE stolen AS SELECT 1', '42601'],
    ['parentheses that end early', 'SELECT 1) AS given UNION ALL SELECT (2', '42601'],
    ['parentheses and a comment', 'SELECT 1) AS given --', '42601'],
    ['an open comment', 'SELECT 1 /* ', '42601'],
    ['an open text', "SELECT 'a", '42601'],
    ['COPY', "COPY analytics.tokens TO '/tmp/x'", '42601'],
    ['COPY of a program', "COPY (SELECT 1) TO PROGRAM 'id'", '42601'],
    ['a file', "SELECT pg_read_file('/etc/passwd')", '42501'],
    ['a file by large object', "SELECT lo_import('/etc/passwd')", '42501'],
    ['a folder', "SELECT pg_ls_dir('.')", '42501'],
    ['another role', 'SET ROLE postgres', '42601'],
    ['the end of a role', 'RESET ROLE', '42601'],
    ['other keys of the API', 'SELECT * FROM public.api_keys', '42501'],
    ['passwords of roles', 'SELECT rolpassword FROM pg_authid', '42501'],
    ['a lock', 'LOCK TABLE public.leases', '42601'],
    ['row locks', 'SELECT * FROM analytics.tokens FOR UPDATE', '42501'],
    ['row locks of a system table', 'SELECT * FROM pg_class FOR SHARE', '25006'],
    ['a channel', 'LISTEN everything', '42601'],
    ['a call', 'CALL something()', '42601'],
    ['code', 'DO $$ BEGIN PERFORM 1; END $$', '42601'],
    ['a parameter', 'SELECT $1', '08P01'],
    ['an unknown column', 'SELECT nothing FROM analytics.tokens', '42703'],
    ['statements in a function', "SELECT query_to_xml('DELETE FROM public.tokens', true, true, '')", '0A000'],
    ['a query in a function', "SELECT query_to_xml('SELECT * FROM public.api_keys', true, true, '')", '42501'],
    ['the role of the program in a function', "SELECT set_config('role', 'postgres', true)", '42501'],
    ['a setting of the server', "SELECT set_config('log_statement', 'all', false)", '42501'],
    ['a write mode', "SELECT set_config('transaction_read_only', 'off', false)", '25001'],
  ])('%s', async (_name, sql, sqlstate) => {
    const { code, message } = await refusal(sql);
    expect([code, message]).toEqual(['SQL_REFUSED', expect.stringContaining(`(${sqlstate})`)]);
  });

  test.each([
    ['empty', ' ; '],
    ['a NUL', 'SELECT 1\0'],
    ['long', `SELECT '${'x'.repeat(10_000)}'`],
  ])('%s text', async (_name, sql) => {
    expect((await refusal(sql)).code).toBe('SQL_REFUSED');
  });

  test('that sleeps is stopped, also if it takes the limit away first', async () => {
    const quick = readerOf(AGENT, { timeoutMs: 300 });
    const stopped = { code: 'SQL_TIMEOUT', message: 'The statement was stopped after 0.3 s' };
    expect(await refusal('SELECT pg_sleep(60)', quick)).toEqual(stopped);
    expect(await refusal("SELECT set_config('statement_timeout', '0', false), pg_sleep(60)", quick)).toEqual(stopped);
    expect(await refusal('SELECT count(*) FROM generate_series(1, 1000000000)', quick)).toEqual(stopped);
  });

  test('that changes settings leaves none to the next one', async () => {
    await reader.read(
      "SELECT set_config('search_path', 'public', false), set_config('role', 'chainstead_reader', false)",
    );
    expect((await reader.read("SELECT current_user AS who, current_setting('search_path') AS path")).rows).toEqual([
      JSON.stringify({ who: AGENT, path: 'analytics' }),
    ]);
  });

  test('that would wait behind others is refused at once', async () => {
    const narrow = readerOf(AGENT, { concurrency: 1 });
    const first = narrow.read('SELECT pg_sleep(0.5)');
    expect(await refusal('SELECT 1', narrow)).toMatchObject({ code: 'SQL_BUSY' });
    await first;
    expect((await narrow.read('SELECT 1 AS a')).rows).toEqual(['{"a":1}']);
  });
});

describe('a role with more rights is refused before the statement', () => {
  test.each([
    [
      'writes',
      async (role: string) => void (await scratch.database.query(`GRANT INSERT ON public.tokens TO ${role}`)),
      'tokens',
    ],
    [
      'reads keys',
      async (role: string) => void (await scratch.database.query(`GRANT SELECT ON public.api_keys TO ${role}`)),
      'api_keys',
    ],
    [
      'reads a column',
      async (role: string) => void (await scratch.database.query(`GRANT SELECT (name) ON public.api_keys TO ${role}`)),
      'api_keys',
    ],
    [
      'becomes a writer',
      async (role: string) => {
        const writer = `writer_${role}`;
        roles.push(writer);
        await scratch.database.query(`CREATE ROLE ${writer}`);
        await scratch.database.query(`GRANT UPDATE ON public.tokens TO ${writer}`);
        await scratch.database.query(`GRANT ${writer} TO ${role}`);
      },
      'tokens',
    ],
    [
      'reads files',
      async (role: string) => void (await scratch.database.query(`GRANT pg_read_server_files TO ${role}`)),
      'pg_read_server_files',
    ],
    [
      'is a superuser',
      async (role: string) => void (await scratch.database.query(`ALTER ROLE ${role} SUPERUSER`)),
      'superuser',
    ],
    [
      'creates roles',
      async (role: string) => void (await scratch.database.query(`ALTER ROLE ${role} CREATEROLE`)),
      'excess_',
    ],
  ])('that %s', async (_name, grant, text) => {
    const role = `excess_${randomBytes(6).toString('hex')}`;
    roles.push(role);
    await createLogin(role, 'IN ROLE chainstead_reader');
    await grant(role);
    const { code, message } = await refusal('SELECT 1', readerOf(role));
    expect([code, message]).toEqual(['SQL_ROLE_UNSAFE', expect.stringContaining(text)]);
  });

  test('such as the role of the program', async () => {
    const own = openSqlReader({ url: scratch.url, logger: silentLogger() });
    expect(await refusal('SELECT 1', own)).toMatchObject({ code: 'SQL_ROLE_UNSAFE' });
  });
});

test('an unreachable server is unavailable, without its address', async () => {
  const away = openSqlReader({ url: 'postgres://agent:secret@127.0.0.1:1/none', logger: silentLogger() });
  expect(await refusal('SELECT 1', away)).toEqual({
    code: 'SQL_UNAVAILABLE',
    message: 'The database for SQL is unavailable',
  });
});
