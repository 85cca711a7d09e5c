/** What the program and its readers may do in the embedded server. */
import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import {
  askServer,
  createEmbeddedTemplate,
  type EmbeddedTemplate,
  openEmbeddedFolder,
} from './testing/embedded-folder.ts';

let template: EmbeddedTemplate;

beforeAll(async () => {
  template = await createEmbeddedTemplate();
});
afterAll(() => template?.remove());

/** Makes a reader. @returns its URL */
async function makeAnalyst({ url, superuserUrl }: { url: string; superuserUrl: string }): Promise<string> {
  await askServer(superuserUrl, "CREATE ROLE analyst LOGIN PASSWORD 'x' IN ROLE chainstead_reader");
  const analyst = new URL(url);
  analyst.username = 'analyst';
  analyst.password = 'x';
  return analyst.href;
}

test('the program works as a role that owns its database and nothing else', async () => {
  const { start } = await openEmbeddedFolder(template);
  const server = await start();
  expect(
    await askServer(
      server.url,
      `SELECT current_user AS role, rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user`,
    ),
  ).toEqual([{ role: 'chainstead', rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
  const database = openDatabase({ url: server.url, applicationName: 'test', logger: silentLogger() });
  try {
    expect((await migrate(database)).applied).toContain('0000_initial');
    await expect(database.query("COPY schema_migrations TO PROGRAM 'true'")).rejects.toMatchObject({ code: '42501' });
  } finally {
    await database.close();
  }
  const analyst = await makeAnalyst(server);
  expect(await askServer(analyst, 'SELECT count(*) AS n FROM analytics.tokens')).toEqual([{ n: 0 }]);
  await expect(askServer(analyst, 'SELECT count(*) FROM tokens')).rejects.toMatchObject({ code: '42501' });
});

test('a reader can take no advisory lock, and the program can', async () => {
  const { start } = await openEmbeddedFolder(template);
  const first = await start();
  const open = `SELECT count(*) AS functions, count(*) FILTER (WHERE has_function_privilege('public', oid, 'EXECUTE')) AS public,
      count(*) FILTER (WHERE has_function_privilege(current_user, oid, 'EXECUTE')) AS own
    FROM pg_proc WHERE proname LIKE '%\\_advisory\\_%'`;
  const [found] = await askServer(first.url, open);
  expect(found).toMatchObject({ public: 0 });
  expect(found).toMatchObject({ own: Object(found).functions });
  expect(Object(found).functions).toBeGreaterThan(20);
  const analyst = await makeAnalyst(first);
  for (const call of ['pg_advisory_lock(1)', 'pg_try_advisory_xact_lock_shared(1, 2)'])
    await expect(askServer(analyst, `SELECT ${call}`)).rejects.toMatchObject({ code: '42501' });
  await askServer(first.url, 'SELECT pg_advisory_lock(1), pg_advisory_unlock(1)');
  // A right that somebody else has given.
  const superuser = new URL(first.superuserUrl);
  superuser.pathname = '/chainstead';
  await askServer(superuser.href, 'GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC');
  await first.stop();
  const second = await start();
  expect(await askServer(second.url, open)).toEqual([found]);
});
