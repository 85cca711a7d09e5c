/** What the program and its readers may do in the embedded server. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
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
  // A database of an earlier version.
  const superuser = new URL(first.superuserUrl);
  superuser.pathname = '/chainstead';
  await askServer(superuser.href, 'GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC');
  await first.stop();
  const second = await start();
  expect(await askServer(second.url, open)).toEqual([found]);
});

/** Tables, views, sequences, routines and types that the program could not change; those of extensions are not its own. */
const OWNED_BY_OTHERS = `
  SELECT owned.name FROM (
    SELECT 'pg_class'::regclass AS kind, oid, relname AS name, relnamespace AS space, relowner AS owner
      FROM pg_class WHERE relkind <> 'c'
    UNION ALL SELECT 'pg_proc'::regclass, oid, proname, pronamespace, proowner FROM pg_proc
    UNION ALL SELECT 'pg_type'::regclass, oid, typname, typnamespace, typowner FROM pg_type
  ) AS owned
  JOIN pg_namespace ON pg_namespace.oid = owned.space
  WHERE nspname IN ('public', 'analytics', 'chainstead_jobs') AND owner <> (SELECT oid FROM pg_roles WHERE rolname = 'chainstead')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = owned.kind AND objid = owned.oid AND deptype = 'e')
    AND NOT EXISTS (SELECT FROM pg_type element JOIN pg_depend ON element.oid = objid AND deptype = 'e'
                    WHERE owned.kind = 'pg_type'::regclass AND element.typarray = owned.oid)`;

test('what an earlier version made as superuser is handed over to the role', async () => {
  const { start, dataDir } = await openEmbeddedFolder(template);
  const first = await start();
  await askServer(first.superuserUrl, 'DROP DATABASE chainstead');
  await askServer(first.superuserUrl, 'DROP ROLE chainstead');
  await askServer(first.superuserUrl, 'CREATE DATABASE chainstead');
  const earlier = new URL(first.superuserUrl);
  earlier.pathname = '/chainstead';
  const database = openDatabase({ url: earlier.href, applicationName: 'test', logger: silentLogger() });
  await migrate(database);
  await database.query('CREATE SCHEMA chainstead_jobs');
  await database.query("CREATE TYPE chainstead_jobs.state AS ENUM ('waiting')");
  await database.query('CREATE TABLE chainstead_jobs.job (id bigserial PRIMARY KEY, state chainstead_jobs.state)');
  await database.query('CREATE FUNCTION chainstead_jobs.next() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$');
  await database.close();
  await first.stop();
  await rename(join(dataDir, 'superuser-password'), join(dataDir, 'password'));

  const second = await start();
  expect(await askServer(second.url, OWNED_BY_OTHERS)).toEqual([]);
  await askServer(second.url, 'ALTER TABLE tokens ADD COLUMN altered int');
  await askServer(second.url, "ALTER TYPE chainstead_jobs.state ADD VALUE 'active'");
  await askServer(second.url, 'INSERT INTO chainstead_jobs.job (state) VALUES (NULL)');
  await askServer(
    second.url,
    'CREATE OR REPLACE FUNCTION chainstead_jobs.next() RETURNS int LANGUAGE sql AS $$ SELECT 2 $$',
  );
  await askServer(second.url, 'CREATE VIEW analytics.later AS SELECT 1 AS n');
  const analyst = await makeAnalyst(second);
  expect(await askServer(analyst, 'SELECT n FROM analytics.later')).toEqual([{ n: 1 }]);
  expect(await askServer(analyst, 'SELECT count(*) AS n FROM analytics.tokens')).toEqual([{ n: 0 }]);
});
