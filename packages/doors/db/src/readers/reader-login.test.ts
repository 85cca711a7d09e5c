import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, expect, test } from 'vitest';
import { rawSql, sql } from '../sql.ts';
import { queryServer } from '../testing/embedded-folder.ts';
import { provideReaderLogin } from './reader-login.ts';

const scratch = scratchOfFile();
const optionsOf = (password: string, makerUrl = scratch.url) => ({
  ...{ url: scratch.url, makerUrl, password },
});
const roleName = () => `${new URL(scratch.url).pathname.slice(1)}_analyst`;

afterAll(() => scratch.database.query(sql`DROP ROLE IF EXISTS "${rawSql(roleName())}"`));

test('a reader role is made once, can only read, and gets a new password', async () => {
  const first = await provideReaderLogin(optionsOf('first'));
  expect(new URL(first).username).toBe(roleName());
  expect(await queryServer(first, sql`SELECT count(*) AS n FROM analytics.tokens`)).toEqual([{ n: 0 }]);
  await expect(queryServer(first, sql`SELECT FROM server_secrets`)).rejects.toMatchObject({ code: '42501' });
  const second = await provideReaderLogin(optionsOf('se/c@ond'));
  expect(await provideReaderLogin(optionsOf('se/c@ond'))).toBe(second);
  expect(await queryServer(second, sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
  await expect(queryServer(first, sql`SELECT 1`)).rejects.toMatchObject({ code: '28P01' });
});

test('a role that may not create roles is told which statement to run', async () => {
  const weak = await provideReaderLogin(optionsOf('weak'));
  try {
    const url = new URL(scratch.url);
    url.pathname = '/other';
    await expect(provideReaderLogin({ ...optionsOf('third', weak), url: url.href })).rejects.toMatchObject({
      code: 'READER_ROLE_MISSING',
      message: expect.stringContaining(`"other_analyst" LOGIN CONNECTION LIMIT 120 IN ROLE chainstead_reader`),
    });
  } finally {
    await scratch.database.query(sql`DROP ROLE "${rawSql(new URL(weak).username)}"`);
  }
});
