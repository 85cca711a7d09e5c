import { silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { withReaderUrls } from './reader-urls.ts';

const scratch = scratchOfFile();

test('features that are on without a URL get the same role that can only read, from every process', async () => {
  const { configuration } = parseConfiguration([environmentSource({ MCP_SQL: 'true' })]);
  const { database, url } = scratch;
  const storage = {
    ...{ database, url, isEmbedded: false, roleMakerUrl: url, appliedAtOpening: [] },
    close: async () => {},
  };
  const [first, second] = [
    await withReaderUrls(configuration, storage),
    await withReaderUrls(configuration, storage),
  ];
  const { mcpDatabaseUrl, graphqlDatabaseUrl } = first.api;
  expect([second.api.mcpDatabaseUrl, graphqlDatabaseUrl]).toEqual([mcpDatabaseUrl, null]);
  const reader = openDatabase({ url: mcpDatabaseUrl ?? '', applicationName: 'test', logger: silentLogger() });
  try {
    expect(await reader.query(sql`SELECT count(*)::int AS n FROM analytics.tokens`)).toEqual([{ n: 0 }]);
    await expect(reader.query(sql`SELECT FROM server_secrets`)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await reader.close();
    await database.query(sql`DROP ROLE "${rawSql(new URL(mcpDatabaseUrl ?? '').username)}"`);
  }
});
