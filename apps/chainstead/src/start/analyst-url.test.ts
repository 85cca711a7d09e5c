import { silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { withAnalystUrl } from './analyst-url.ts';

const scratch = scratchOfFile();

test('SQL of agents and GraphQL get the same role that can only read, from every process', async () => {
  const { configuration } = parseConfiguration([environmentSource({ MCP_SQL: 'true' })]);
  const { database, url } = scratch;
  const storage = {
    ...{ database, url, isEmbedded: false, roleMakerUrl: url, appliedAtOpening: [] },
    close: async () => {},
  };
  const [first, second] = [
    await withAnalystUrl(configuration, storage),
    await withAnalystUrl(configuration, storage),
  ];
  const { analystUrl } = first.database;
  expect(second.database.analystUrl).toBe(analystUrl);
  const reader = openDatabase({ url: analystUrl ?? '', applicationName: 'test', logger: silentLogger() });
  try {
    expect(await reader.query(sql`SELECT count(*)::int AS n FROM analytics.tokens`)).toEqual([{ n: 0 }]);
    await expect(reader.query(sql`SELECT FROM server_secrets`)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await reader.close();
    await database.query(sql`DROP ROLE "${rawSql(new URL(analystUrl ?? '').username)}"`);
  }
});
