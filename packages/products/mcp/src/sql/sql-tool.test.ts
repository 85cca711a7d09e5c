/** Results of the tool on a real server. */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlReader } from './sql-reader.ts';
import { sqlTools } from './sql-tool.ts';

const ROLE = `agent_${randomBytes(6).toString('hex')}`;
const scratch = scratchOfFile();

beforeAll(() =>
  scratch.database.query(sql`CREATE ROLE ${rawSql(ROLE)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`),
);
afterAll(() => scratch.database.query(sql`DROP ROLE ${rawSql(ROLE)}`));

async function dataOf(statement: string) {
  const url = Object.assign(new URL(scratch.url), { username: ROLE, password: 'secret' });
  const tools = sqlTools(openSqlReader({ url: url.href, logger: silentLogger() }));
  const tool = tools.find(({ name }) => name === 'sql');
  const result = await tool?.call({ sql: statement }, { principal: null, requestId: '' });
  expect(JSON.parse(result?.texts[1] ?? '')).toEqual(result?.structured?.data);
  return result?.structured?.data;
}

const LARGE = '9007199254740993';
const LARGEST = String(2n ** 256n - 1n);

describe('a number that a double would change is text', () => {
  test.each([
    ['a bigint', `${LARGE}::bigint`, LARGE],
    ['a negative one', `-${LARGE}::bigint`, `-${LARGE}`],
    ['the largest amount', `${LARGEST}::numeric`, LARGEST],
    ['a sum', 'sum(n)', '18014398509481986', `(VALUES (${LARGE}), (${LARGE})) AS v(n)`],
    ['an average', 'avg(n)', '9007199254740993.5000', `(VALUES (${LARGE}), (9007199254740994)) AS v(n)`],
    ['a quotient', '1::numeric / 3', '0.33333333333333333333'],
    ['an array', `ARRAY[1, ${LARGE}]`, [1, LARGE]],
    [
      'a member of JSON',
      `'{"a": [${LARGE}, "${LARGE}", "\\"${LARGE}"]}'::jsonb`,
      { a: [LARGE, LARGE, `"${LARGE}`] },
    ],
    ['a member of a row', `ROW(${LARGE}, 'a')`, { f1: LARGE, f2: 'a' }],
  ])('%s', async (_name, value, shown, from = '(VALUES (1)) AS v(n)') => {
    expect(await dataOf(`SELECT ${value} AS value FROM ${from}`)).toEqual([{ value: shown }]);
  });

  test('and no other', async () => {
    expect(
      await dataOf(
        `SELECT 9007199254740991 AS n, -1.50 AS d, 1e300::float8 AS f, 'a 9007199254740993' AS t, 2.5000000000000000 AS z`,
      ),
    ).toEqual([{ n: 9007199254740991, d: -1.5, f: 1e300, t: 'a 9007199254740993', z: 2.5 }]);
  });
});
