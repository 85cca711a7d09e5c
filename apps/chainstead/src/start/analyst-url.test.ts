import { randomBytes } from 'node:crypto';
import { silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openDatabase, provisionDatabase } from '@chainstead/db/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { withAnalystUrl } from './check-ports.ts';

const scratch = scratchOfFile();

const { configuration } = parseConfiguration([environmentSource({ MCP_SQL: 'true' })]);

/** @param url of the program's role */
function storageOf(url: string) {
  const { database } = scratch;
  return {
    ...{ database, url, isEmbedded: false, roleMakerUrl: url, appliedAtOpening: [] },
    close: async () => {},
  };
}

async function expectReader(analystUrl: string | null): Promise<void> {
  const reader = openDatabase({ url: analystUrl ?? '', applicationName: 'test', logger: silentLogger() });
  try {
    expect(await reader.query(sql`SELECT count(*)::int AS n FROM analytics.tokens`)).toEqual([{ n: 0 }]);
    await expect(reader.query(sql`SELECT FROM server_secrets`)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await reader.close();
    await scratch.database.query(sql`DROP ROLE "${rawSql(new URL(analystUrl ?? '').username)}"`);
  }
}

test('SQL of agents and GraphQL get the same role that can only read, from every process', async () => {
  const [first, second] = [
    await withAnalystUrl(configuration, storageOf(scratch.url)),
    await withAnalystUrl(configuration, storageOf(scratch.url)),
  ];
  const { analystUrl } = first.database;
  expect(second.database.analystUrl).toBe(analystUrl);
  await expectReader(analystUrl);
});

test('a provisioned server has the role for a program that may create none, also after a new password', async () => {
  const role = `program_${randomBytes(6).toString('hex')}`;
  for (const password of ['first', 'second']) {
    const url = Object.assign(new URL(scratch.url), { username: role, password }).href;
    await provisionDatabase({ superuserUrl: scratch.url, programUrl: url });
    const { database } = await withAnalystUrl(configuration, storageOf(url));
    if (password === 'second') await expectReader(database.analystUrl);
  }
  await scratch.database.query(sql`DROP OWNED BY ${rawSql(role)}; DROP ROLE ${rawSql(role)}`);
});

test('a role of that name that the operator made keeps its password', async () => {
  const name = `${new URL(scratch.url).pathname.slice(1)}_analyst`;
  const role = `program_${randomBytes(6).toString('hex')}`;
  const own = Object.assign(new URL(scratch.url), { username: name, password: 'own' }).href;
  await scratch.database.query(sql`CREATE ROLE ${rawSql(name)} LOGIN PASSWORD 'own' IN ROLE chainstead_reader`);
  const url = Object.assign(new URL(scratch.url), { username: role, password: 'first' }).href;
  await provisionDatabase({ superuserUrl: scratch.url, programUrl: url });
  await expect(withAnalystUrl(configuration, storageOf(url))).rejects.toMatchObject({
    code: 'READER_ROLE_MISSING',
    message: expect.stringContaining('chainstead provision'),
  });
  await expectReader(own);
  await scratch.database.query(sql`DROP OWNED BY ${rawSql(role)}; DROP ROLE ${rawSql(role)}`);
});
