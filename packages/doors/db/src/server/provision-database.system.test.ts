import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { rawSql, type Sql, sql } from '../sql.ts';
import {
  createEmbeddedTemplate,
  type EmbeddedTemplate,
  openEmbeddedFolder,
  queryServer,
} from '../testing/embedded-folder.ts';
import { isProvisioned, provisionDatabase } from './provision-database.ts';

let template: EmbeddedTemplate;

beforeAll(async () => {
  template = await createEmbeddedTemplate();
});
afterAll(() => template?.remove());

test('whatever a new version, a restored database or another client lacks is provided again', async () => {
  const { start } = await openEmbeddedFolder(template);
  const { url, superuserUrl } = await start();
  expect(await isProvisioned(url)).toBe(true);
  const admin = new URL(superuserUrl);
  admin.pathname = '/chainstead';
  for (const change of [
    'GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC',
    'GRANT TEMPORARY ON DATABASE chainstead TO PUBLIC',
    'CREATE SCHEMA analytics AUTHORIZATION chainstead',
    'ALTER ROLE chainstead_reader RESET ALL',
    'DROP OWNED BY chainstead_reader; DROP ROLE chainstead_reader',
    'DROP EXTENSION pg_trgm',
    'DROP ROLE chainstead_analyst',
  ]) {
    await queryServer(admin.href, rawSql(change));
    expect(await isProvisioned(url), change).toBe(false);
    await provisionDatabase({ superuserUrl, programUrl: url });
    expect(await isProvisioned(url), change).toBe(true);
  }
});

test('a start on a running server opens one connection', async () => {
  const { start } = await openEmbeddedFolder(template);
  const { superuserUrl } = await start();
  const observer = openDatabase({
    url: superuserUrl,
    applicationName: 'observer',
    poolSize: 1,
    logger: silentLogger(),
  });
  const one = async (statement: Sql) => (await observer.query<{ count: number }>(statement))[0]?.count ?? 0;
  /** A session has counted itself when it is gone. */
  const countSessions = async () => {
    const others = sql`SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
    await expect.poll(() => one(others)).toBe(0);
    return one(sql`SELECT sum(sessions)::bigint AS count FROM pg_stat_database`);
  };
  try {
    const before = await countSessions();
    await start();
    expect(await countSessions()).toBe(before + 1);
  } finally {
    await observer.close();
  }
});
