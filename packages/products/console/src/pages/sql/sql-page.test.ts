/** SQL of operators on a real server, as a role with the rights of readers. */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openSqlReader } from '@chainstead/mcp';
import { createScratchDatabase } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { afterAll, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';

const ROLE = `console_${randomBytes(6).toString('hex')}`;

const stage = stageOfFile(async () => {
  const scratch = await createScratchDatabase();
  await scratch.database.query(
    sql`CREATE ROLE ${rawSql(ROLE)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`,
  );
  const url = Object.assign(new URL(scratch.url), { username: ROLE, password: 'secret' });
  return openConsoleStage({ scratch, sql: openSqlReader({ url: url.href, logger: silentLogger() }) });
});
const visitor = madeForFile(() => stage.signIn());
afterAll(async () => {
  await stage.database.query(sql`DROP ROLE ${rawSql(ROLE)}`);
  await stage.scratch.drop();
});

async function run(statement: string, as: 'table' | 'csv' = 'table') {
  const answer = await stage.post('/console/sql', { sql: statement, as }, visitor);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

test('a SELECT gives a table with every digit, and the statement stays in its field', async () => {
  const { status, text } = await run("SELECT 9007199254740993 AS big, '<b>' AS name, NULL AS nothing");
  expect(status).toBe(200);
  expect(text).toContain('<td class="number"><bdi>9007199254740993</bdi></td><td><bdi>&lt;b&gt;</bdi></td>');
  expect(text).toContain('SELECT 9007199254740993 AS big, &#39;&lt;b&gt;&#39; AS name');
  expect(text).toMatch(/<data[^>]*>1<\/data> row\./);
});

test('columns are in the order of the statement, also without rows', async () => {
  const { text } = await run('SELECT 1 AS "2", 2 AS "1"', 'csv');
  expect(text).toBe('2,1\r\n1,2\r\n');
  expect((await run('SELECT 1 AS name WHERE false', 'csv')).text).toBe('name\r\n');
});

test('the same rows are a CSV file', async () => {
  const { headers, text } = await run("SELECT number, '=1' AS name FROM generate_series(1, 2) AS number", 'csv');
  expect(headers.get('content-disposition')).toBe('attachment; filename="result.csv"');
  expect(text).toBe("number,name\r\n1,'=1\r\n2,'=1\r\n");
});

test.each([
  ['DELETE FROM coverage', 'SELECT'],
  ['SELECT * FROM public.api_keys', 'public.api_keys is not allowed'],
  ['SELECT nonsense FROM coverage', 'nonsense'],
  ['', 'Pass one SELECT'],
  ['SELECT 1 AS a, 2 AS a', 'Two columns of the result have the name a'],
])('%j is refused with the reason, on the page of the statement', async (statement, reason) => {
  const { status, text } = await run(statement);
  expect(status).toBe(400);
  expect(/<p class="problem" role="alert">(.*?)<\/p>/s.exec(text)?.[1]).toContain(reason);
});

test('an example fills the field, and the views are listed with their columns', async () => {
  const page = await (await stage.get('/console/sql?sql=SELECT+1', visitor)).text();
  expect(page).toMatch(/<textarea[^>]*>\n?SELECT 1<\/textarea>/);
  expect(page).toMatch(
    /<code><bdi>coverage<\/bdi><\/code><\/summary><p><code><bdi>chain_id bigint, dataset text/,
  );
});

test('every example of the documentation is on the page, and runs', async () => {
  const page = await (await stage.get('/console/sql', visitor)).text();
  const examples = [...page.matchAll(/href="\/console\/sql\?([^"]*)"/g)].map(
    ([, query = '']) => new URLSearchParams(query).get('sql') ?? '',
  );
  expect(examples).toHaveLength(32);
  // The role's memory is bounded, so it reads no lists of unknown length. psql runs these two.
  const [refused, allowed] = [true, false].map((isRefused) =>
    examples.filter((example) => example.includes('ARRAY(') === isRefused),
  );
  expect(refused).toHaveLength(2);
  for (const example of allowed ?? []) {
    const { status, text } = await run(example);
    const problem = /role="alert">(.*?)<\/p>/s.exec(text)?.[1];
    expect({ example, status, problem }).toEqual({ example, status: 200, problem: undefined });
  }
});
