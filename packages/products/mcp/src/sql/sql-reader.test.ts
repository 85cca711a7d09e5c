/** Statements of agents on a real server, as a role with the rights of readers, and as roles with more. */

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseChainId, silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSqlReader, type SqlReader, type SqlReaderOptions } from './sql-reader.ts';
import { SqlRefusalError } from './sql-refusal.ts';

const scratch = scratchOfFile();
const suffix = randomBytes(6).toString('hex');
const AGENT = `agent_${suffix}`;
const roles = [AGENT];
const ASKER = { key: 'one' };
/** Takes longer than any limit of a test, and no memory. */
const ENDLESS = 'SELECT count(*) FROM generate_series(1, 1000000000)';
let reader: SqlReader;

beforeAll(async () => {
  await createLogin(AGENT, 'IN ROLE chainstead_reader');
  reader = readerOf(AGENT);
  await createPartitions(scratch.database, 'logs', parseChainId(1));
});
afterAll(async () => {
  for (const role of roles) {
    await scratch.database.query(sql`DROP OWNED BY ${rawSql(role)}`);
    await scratch.database.query(sql`DROP ROLE ${rawSql(role)}`);
  }
});

async function createLogin(role: string, rights: string): Promise<void> {
  await scratch.database.query(sql`CREATE ROLE ${rawSql(role)} LOGIN PASSWORD 'secret' ${rawSql(rights)}`);
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
  const error: unknown = await of.read(sql, ASKER).then(
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
    [
      "SELECT '0x' || encode('\\x0a'::bytea, 'hex') AS hex, lpad('1', 4, '0') AS padded",
      ['{"hex":"0x0a","padded":"0001"}'],
    ],
    [
      'WITH a AS (SELECT 1 AS n), b AS (SELECT n FROM a) SELECT a.n, to_char(now(), $$x$$) AS t FROM a JOIN b ON a.n = b.n',
      ['{"n":1,"t":"x"}'],
    ],
    [
      'SELECT DISTINCT ON (n) n, row_number() OVER (PARTITION BY n ORDER BY n) AS place FROM (VALUES (1), (1)) AS v(n)',
      ['{"n":1,"place":1}'],
    ],
    [
      "SELECT hex('\\xff') AS hex, ARRAY['a'] AS list, '[1]'::jsonb -> 0 AS first",
      ['{"hex":"0xff","list":["a"],"first":1}'],
    ],
    [
      "SELECT count(*) > 100 AS many FROM information_schema.columns WHERE table_schema = 'analytics'",
      ['{"many":true}'],
    ],
    ['SELECT count(*) AS v FROM (VALUES (1)) AS v(n) ORDER BY v', ['{"v":1}']],
    ["SELECT n || 'x' AS a FROM generate_series(1, 9) AS n ORDER BY n DESC LIMIT 1 OFFSET 2", ['{"a":"7x"}']],
    ['SELECT n FROM generate_series(1, 9) AS n ORDER BY n LIMIT 10 / 10', ['{"n":1}']],
    [
      'SELECT count(*) AS n FROM (SELECT n FROM generate_series(1, 9) AS n ORDER BY n LIMIT 100000) AS q',
      ['{"n":9}'],
    ],
    ['SELECT q.max FROM (SELECT max(n) FROM generate_series(1, 9) AS n) AS q', ['{"max":9}']],
    ['SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS p FROM generate_series(1, 9) AS n', ['{"p":5}']],
    ['SELECT data FROM logs ORDER BY transaction_hash LIMIT 16', []],
    [
      "SELECT data FROM logs WHERE contract_key = wallet_key('0x00000000000000000000000000000000000000aa') AND contract_bytes = bytes('0x00000000000000000000000000000000000000aa') AND chain_id = 1 ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT 100",
      [],
    ],
    ['SELECT 1 WHERE false', []],
  ])('%s', async (sql, rows) => {
    expect(await reader.read(sql, ASKER)).toMatchObject({ rows, hasMore: false });
  });

  test('and its rows end at the limit, each at 30,001 characters', async () => {
    expect(
      await readerOf(AGENT, { rowsMax: 3 }).read('SELECT n FROM generate_series(1, 1000000) AS n', ASKER),
    ).toEqual({
      columns: ['n'],
      rows: ['{"n":1}', '{"n":2}', '{"n":3}'],
      hasMore: true,
    });
    const { rows } = await reader.read(
      `SELECT v || v || v || v AS text FROM (SELECT '${'x'.repeat(9_000)}' AS v) AS one`,
      ASKER,
    );
    expect(rows.map((row) => row.length)).toEqual([30_001]);
  });
});

// Invariant: DB-READ-ONLY
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
    ['a file', "SELECT pg_read_file('/etc/passwd')", 'pg_read_file'],
    ['a file by large object', "SELECT lo_import('/etc/passwd')", 'lo_import'],
    ['a folder', "SELECT pg_ls_dir('.')", 'pg_ls_dir'],
    ['another role', 'SET ROLE postgres', '42601'],
    ['the end of a role', 'RESET ROLE', '42601'],
    ['other keys of the API', 'SELECT * FROM public.api_keys', 'public.api_keys is not allowed'],
    ['passwords of roles', 'SELECT rolpassword FROM pg_authid', 'pg_authid is not allowed'],
    ['a lock', 'LOCK TABLE public.leases', '42601'],
    ['row locks', 'SELECT * FROM analytics.tokens FOR UPDATE', 'LockingClause'],
    ['row locks of a system table', 'SELECT * FROM information_schema.columns FOR SHARE', 'LockingClause'],
    ['statements of other keys', 'SELECT query FROM pg_stat_activity', 'pg_stat_activity is not allowed'],
    ['the same by schema', 'SELECT query FROM pg_catalog.pg_stat_activity', 'pg_catalog.pg_stat_activity'],
    ['the same by database', 'SELECT query FROM "x".pg_catalog.pg_stat_activity', 'pg_catalog.pg_stat_activity'],
    ['the same in a query', 'SELECT 1 WHERE EXISTS (SELECT FROM pg_stat_activity)', 'pg_stat_activity'],
    ['the same by its function', 'SELECT query FROM pg_stat_get_activity(NULL)', 'pg_stat_get_activity'],
    ['statistics of statements', 'SELECT query FROM public.pg_stat_statements', 'public.pg_stat_statements'],
    ['statements that are prepared', 'SELECT statement FROM pg_prepared_statements', 'pg_prepared_statements'],
    ['open cursors', 'SELECT statement FROM pg_cursors', 'pg_cursors is not allowed'],
    ['locks', 'SELECT * FROM pg_catalog.pg_locks', 'pg_catalog.pg_locks'],
    ['a statement by its process', 'SELECT pg_stat_get_backend_activity(1)', 'pg_stat_get_backend_activity'],
    ['another database', "SELECT * FROM dblink('host=127.0.0.1', 'SELECT 1') AS t(a text)", 'dblink'],
    ['a large object', 'SELECT lo_get(1)', 'lo_get'],
    ['a setting', "SELECT current_setting('data_directory')", 'current_setting'],
    [
      'the system by the name of a query',
      'WITH a AS (SELECT query FROM pg_stat_activity), pg_stat_activity AS (SELECT 1) SELECT * FROM a',
      'pg_stat_activity',
    ],
    ['settings of the server', 'SELECT setting FROM pg_settings', 'pg_settings is not allowed'],
    ['users', 'SELECT usename FROM pg_user', 'pg_user is not allowed'],
    ['rights of others', 'SELECT grantee FROM information_schema.role_table_grants', 'role_table_grants'],
    ['a channel', 'LISTEN everything', '42601'],
    ['a call', 'CALL something()', '42601'],
    ['code', 'DO $$ BEGIN PERFORM 1; END $$', '42601'],
    ['a parameter', 'SELECT $1', 'ParamRef'],
    ['an unknown column', 'SELECT nothing FROM analytics.tokens', '42703'],
    [
      'statements in a function',
      "SELECT query_to_xml('DELETE FROM public.tokens', true, true, '')",
      'query_to_xml',
    ],
    [
      'a query in a function',
      "SELECT query_to_xml('SELECT * FROM public.api_keys', true, true, '')",
      'query_to_xml',
    ],
    ['the role of the program in a function', "SELECT set_config('role', 'postgres', true)", 'set_config'],
    ['a setting of the server', "SELECT set_config('log_statement', 'all', false)", 'set_config'],
    ['a write mode', "SELECT set_config('transaction_read_only', 'off', false)", 'set_config'],
  ])('%s', async (_name, sql, text) => {
    const { code, message } = await refusal(sql);
    expect([code, message]).toEqual(['SQL_REFUSED', expect.stringContaining(text)]);
  });

  test.each([
    ['empty', ' ; '],
    ['a NUL', 'SELECT 1\0'],
    ['long', `SELECT '${'x'.repeat(10_000)}'`],
  ])('%s text', async (_name, sql) => {
    expect((await refusal(sql)).code).toBe('SQL_REFUSED');
  });

  test.each([
    ['a long text', "SELECT md5(repeat('x', 1000000000))", 'repeat'],
    ['a long text by padding', "SELECT length(lpad('x', 1000000000))", 'lpad'],
    ['a long text by a column', 'SELECT rpad(t, n) FROM (VALUES ($$a$$, 1000000000)) AS v(t, n)', 'rpad'],
    ['a long text by format', "SELECT format('%1000000000s', 'x')", 'format'],
    ['a long text by replacing', "SELECT replace(v, 'x', v) FROM (SELECT 'xxx' AS v) AS one", 'replace'],
    ['many doublings', `SELECT ${doubled(9)}`, 'too many or too large'],
    ['many doublings in a list', `WITH ${doublings(10)} SELECT v FROM w9`, 'too many or too large'],
    [
      'many copies',
      `SELECT ${Array.from({ length: 500 }, () => 'lower(t)').join()} FROM (VALUES ('a')) AS v(t)`,
      'too many or too large',
    ],
    ['a value of many rows', 'SELECT mode() WITHIN GROUP (ORDER BY n) FROM generate_series(1, 9) AS n', 'mode'],
    [
      'long values in a sort with a limit',
      `SELECT n FROM (SELECT n, v || v || n AS t FROM generate_series(1, 9) AS n, (SELECT '${'x'.repeat(2_000)}' AS v) AS z OFFSET 0) AS w ORDER BY n LIMIT 5000`,
      'ORDER BY with a limit of 5000 rows',
    ],
    [
      'values of many rows in a sort with a limit outside',
      "SELECT count(t) FROM (SELECT n || 'x' AS t FROM generate_series(1, 9) AS n ORDER BY n OFFSET 0) AS w LIMIT 200000",
      'ORDER BY with a limit of 200000 rows',
    ],
    [
      'values in a sort with a limit that is computed',
      "SELECT n || 'x' FROM generate_series(1, 9) AS n ORDER BY n LIMIT 10 * 10",
      'ORDER BY with a limit',
    ],
    [
      'many values of a log',
      `SELECT ${Array.from({ length: 9 }, () => 'data').join(' || ')} AS text FROM logs`,
      'Columns of logs and own contracts',
    ],
    ['rows as text', 'SELECT r::text FROM (SELECT 1 AS a) AS r', 'whole row'],
    ['rows in a function', 'SELECT r.row_to_json FROM (SELECT 1 AS a) AS r', 'row_to_json'],
    ['rows in one array', 'SELECT array_agg(n) FROM generate_series(1, 10) AS n', 'array_agg'],
    ['rows in one text', "SELECT string_agg('x', '') FROM generate_series(1, 10)", 'string_agg'],
    ['rows in one array of a query', 'SELECT ARRAY(SELECT 1)', 'ARRAY(SELECT'],
    ['JSON of rows', 'SELECT JSON_ARRAYAGG(n) FROM generate_series(1, 10) AS n', 'JsonArrayAgg'],
    [
      'rows in one array by its name as a column',
      'SELECT a.array_agg FROM (SELECT 1 AS n) AS a',
      'array_agg of a row',
    ],
    ['JSON of rows by its name as a column', 'SELECT a.json_agg FROM (SELECT 1 AS n) AS a', 'json_agg of a row'],
    ['JSON of rows of a view', 'SELECT t.jsonb_agg_strict FROM tokens AS t', 'jsonb_agg_strict of a row'],
    [
      'a list of long values',
      `SELECT percentile_disc('{${Array.from({ length: 1_500 }, () => '.5').join()}}'::float8[]) WITHIN GROUP (ORDER BY n) FROM generate_series(1, 9) AS n`,
      'percentile_disc',
    ],
    [
      'the same by a text',
      "SELECT percentile_disc('{.5,.5}') WITHIN GROUP (ORDER BY n) FROM generate_series(1, 9) AS n",
      'percentile_disc',
    ],
    [
      'copies of a long sorted value',
      `SELECT ${Array.from({ length: 50 }, () => 'p').join(' || ')} FROM (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ${Array.from({ length: 9 }, () => 't').join(' || ')}) AS p FROM (VALUES ('a')) AS v(t)) AS q`,
      'too many or too large',
    ],
    [
      'sorted data of logs',
      'SELECT data FROM (SELECT data FROM logs ORDER BY transaction_hash LIMIT 17) AS q',
      'data of 17 logs',
    ],
    ['all sorted columns of logs', 'SELECT * FROM logs ORDER BY topic3', 'data of 201 logs'],
    ['numbers of rows in XML', 'SELECT xmlagg(xmlelement(name a, n)) FROM generate_series(1, 9) AS n', 'XmlExpr'],
    [
      'a JSON object of rows',
      'SELECT jsonb_object_agg(n, n) FROM generate_series(1, 9) AS n',
      'jsonb_object_agg',
    ],
    ['all matches of an expression', "SELECT regexp_matches('aa', 'a', 'g')", 'regexp_matches'],
    ['an array of a size', 'SELECT array_fill(1, ARRAY[1000000])', 'array_fill'],
    ['a row of JSON', "SELECT json_populate_record(NULL::tokens, '{}')", 'tokens'],
    ['padding by a type', "SELECT 'x'::char(10000000)", 'bpchar'],
    ['bits', "SELECT B'1'::bit(80000000)", 'bit'],
    ['recursion', 'WITH RECURSIVE t AS (SELECT 1 AS n UNION SELECT n + 1 FROM t) SELECT * FROM t', 'RECURSIVE'],
    ['regular expressions', "SELECT 'a' ~ '(x{1,200}){1,200}'", '~'],
    ['regular expressions by a function', "SELECT substring('a', 'x{1,200}')", 'substring'],
    ['grouping sets', 'SELECT 1 GROUP BY CUBE (1)', 'GroupingSet'],
    [
      'many tables',
      `SELECT 1 FROM ${Array.from({ length: 21 }, (_, n) => `blocks AS b${n}`).join()}`,
      '20 tables',
    ],
    ['queries that repeat', `WITH a AS NOT MATERIALIZED (SELECT 1) SELECT 1 FROM a`, 'MATERIALIZED'],
    [
      'a hash table without a bound',
      'SELECT 1 WHERE 1 NOT IN (SELECT n FROM generate_series(1, 10) AS n)',
      'hash table',
    ],
    ['a difference of sets', 'SELECT 1 EXCEPT SELECT 2', 'EXCEPT'],
    ['sleep', 'SELECT pg_sleep(60)', 'pg_sleep'],
    ['brackets', `SELECT ${'('.repeat(4_000)}1${')'.repeat(4_000)}`, 'nested'],
    ['operators', `SELECT 1${'+1'.repeat(4_900)}`, 'nested'],
  ])('for %s', async (_name, sql, text) => {
    const { code, message } = await refusal(sql);
    expect([code, message]).toEqual(['SQL_REFUSED', expect.stringContaining(text)]);
  });

  test('for each function that takes a row, as a column', async () => {
    const functions = await scratch.database.query<{ name: string }>(
      sql`SELECT DISTINCT proname AS name FROM pg_proc
       WHERE (pronargs = 1 OR provariadic <> 0) AND proargtypes[0] IN ('record'::regtype, '"any"'::regtype, 'anyelement'::regtype, 'anynonarray'::regtype)`,
    );
    expect(functions.length).toBeGreaterThan(20);
    const returned: string[] = [];
    for (const { name } of functions) {
      const statement = `SELECT a.${name} FROM (SELECT 1 AS n) AS a`;
      await reader.read(statement, ASKER).then(
        () => returned.push(name),
        (error: unknown) => expect(error).toBeInstanceOf(SqlRefusalError),
      );
    }
    // Postgres 18 has the largest and smallest row. They are grouped by sorting, as other values that grow.
    expect(returned.filter((name) => !/^(?:count|max|min|pg_typeof)$/.test(name))).toEqual([]);
  });

  test('after its time', async () => {
    const stopped = { code: 'SQL_TIMEOUT', message: 'The statement was stopped after 0.3 s' };
    expect(await refusal(ENDLESS, readerOf(AGENT, { timeoutMs: 300 }))).toEqual(stopped);
  });
});

/** Anonymous memory of the agents' processes, in MB, at its highest while the work runs. */
async function highestMemory(work: Promise<unknown>): Promise<number> {
  let isRunning = true;
  const ended = work.finally(() => {
    isRunning = false;
  });
  let highest = 0;
  while (isRunning) {
    const sessions = await scratch.database.query<{ pid: number }>(
      sql`SELECT pid FROM pg_stat_activity WHERE usename = ${AGENT}`,
    );
    for (const { pid } of sessions) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      highest = Math.max(highest, Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
    }
  }
  await ended;
  return highest;
}

describe('groups whose values grow take files, not memory', () => {
  const wide = (short: string, long: string) =>
    `(SELECT n % 10000 AS k, CASE WHEN n > 10000 THEN ${long} ELSE ${short} END AS v FROM generate_series(1, 20000) AS n) AS t`;
  test.each([
    ['texts', 'max(v)', "''", `concat(${Array.from({ length: 20 }, () => "rpad('', 1000, 'x')").join()})`],
    ['numbers', 'sum(v)', '1', '10::numeric ^ 8000'],
    ['numbers of a text', 'avg(v)', '1', `'1${'0'.repeat(8_000)}'::numeric`],
  ])('%s', async (_name, aggregate, short, long) => {
    const statement = `SELECT count(g) FROM (SELECT length(${aggregate}::text) AS g FROM ${wide(short, long)} GROUP BY k) AS groups`;
    let rows: readonly string[] = [];
    const megabytes = await highestMemory(
      reader.read(statement, ASKER).then((result) => {
        rows = result.rows;
      }),
    );
    expect(rows).toEqual(['{"count":10000}']);
    expect(megabytes).toBeLessThan(90);
  });
});

/** A text that is doubled some times in one expression. */
function doubled(times: number): string {
  return times === 0 ? "'x'" : `(${doubled(times - 1)} || ${doubled(times - 1)})`;
}

/** Queries of which each doubles the text of the one before. */
function doublings(count: number): string {
  return Array.from(
    { length: count },
    (_, n) => `w${n} AS (SELECT ${n === 0 ? "'x'" : 'v || v'} AS v${n === 0 ? '' : ` FROM w${n - 1}`})`,
  ).join();
}

describe('places', () => {
  const places = { all: 2, perKey: 1 };
  const sessions = async () =>
    (
      await scratch.database.query<{ n: number }>(
        sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = ${AGENT}`,
      )
    )[0]?.n;
  /** Two readers have the state of two processes. */
  const first = () => readerOf(AGENT, { places });
  const second = () => readerOf(AGENT, { places });

  /** Starts a statement that runs until `leave`. */
  async function runUntilLeft(of: SqlReader, key: string) {
    const client = new AbortController();
    // Sessions of an earlier test may still be ending: statements are counted.
    const before = await runningStatements();
    const ended = of.read(ENDLESS, { key, signal: client.signal }).catch((error: unknown) => error);
    await vi.waitFor(async () => expect(await runningStatements()).toBeGreaterThan(before));
    return {
      leave: async () => {
        client.abort();
        await ended;
      },
    };
  }
  const runningStatements = async () =>
    (
      await scratch.database.query<{ n: number }>(
        sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = ${AGENT} AND query LIKE '%count%1000000000%' AND state = 'active'`,
      )
    )[0]?.n ?? 0;

  test('of a key and of all count in every process, until the sessions are gone', async () => {
    const one = await runUntilLeft(first(), 'one');
    expect(await refusal('SELECT 1', second())).toEqual({
      code: 'SQL_BUSY',
      message: 'Other statements of this key are still running',
    });
    const other = await runUntilLeft(second(), 'two');
    await expect(first().read('SELECT 1', { key: 'three' })).rejects.toMatchObject({
      code: 'SQL_BUSY',
      message: 'Statements of other keys are still running',
    });
    await one.leave();
    await other.leave();
    await vi.waitFor(async () => expect(await sessions()).toBe(0));
    expect((await second().read('SELECT 1 AS a', ASKER)).rows).toEqual(['{"a":1}']);
  });

  test('of a key leave one for another key in the same process', async () => {
    const shared = first();
    const one = await runUntilLeft(shared, 'one');
    expect(await refusal('SELECT 1', shared)).toMatchObject({ code: 'SQL_BUSY' });
    expect((await shared.read('SELECT 1 AS a', { key: 'two' })).rows).toEqual(['{"a":1}']);
    await one.leave();
  });
});

// Invariant: DB-READ-ONLY
describe('a role with more rights is refused before the statement', () => {
  test.each([
    [
      'writes',
      async (role: string) =>
        void (await scratch.database.query(sql`GRANT INSERT ON public.tokens TO ${rawSql(role)}`)),
      'tokens',
    ],
    [
      'reads keys',
      async (role: string) =>
        void (await scratch.database.query(sql`GRANT SELECT ON public.api_keys TO ${rawSql(role)}`)),
      'api_keys',
    ],
    [
      'reads a column',
      async (role: string) =>
        void (await scratch.database.query(sql`GRANT SELECT (name) ON public.api_keys TO ${rawSql(role)}`)),
      'api_keys',
    ],
    [
      'becomes a writer',
      async (role: string) => {
        const writer = `writer_${role}`;
        roles.push(writer);
        await scratch.database.query(sql`CREATE ROLE ${rawSql(writer)}`);
        await scratch.database.query(sql`GRANT UPDATE ON public.tokens TO ${rawSql(writer)}`);
        await scratch.database.query(sql`GRANT ${rawSql(writer)} TO ${rawSql(role)}`);
      },
      'tokens',
    ],
    [
      'reads files',
      async (role: string) =>
        void (await scratch.database.query(sql`GRANT pg_read_server_files TO ${rawSql(role)}`)),
      'pg_read_server_files',
    ],
    [
      'is a superuser',
      async (role: string) => void (await scratch.database.query(sql`ALTER ROLE ${rawSql(role)} SUPERUSER`)),
      'superuser',
    ],
    [
      'creates roles',
      async (role: string) => void (await scratch.database.query(sql`ALTER ROLE ${rawSql(role)} CREATEROLE`)),
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

test('columns keep their names and order, also without rows', async () => {
  expect(await reader.read('SELECT 1 AS "2", 2 AS "1" LIMIT 0', ASKER)).toEqual({
    ...{ columns: ['2', '1'], rows: [], hasMore: false },
  });
});

test('an unreachable server is unavailable, without its address', async () => {
  const away = openSqlReader({ url: 'postgres://agent:secret@127.0.0.1:1/none', logger: silentLogger() });
  expect(await refusal('SELECT 1', away)).toEqual({
    code: 'SQL_UNAVAILABLE',
    message: 'The database for SQL is unavailable',
  });
});
