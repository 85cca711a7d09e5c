/** The embedded server: several starts in one folder, privileges, crashes, and failed starts. */

import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { migrate } from '../migrations/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { provisionDatabase } from '../server/provision-database.ts';
import { rawSql, sql } from '../sql.ts';
import {
  createEmbeddedTemplate,
  type EmbeddedTemplate,
  openEmbeddedFolder,
  queryServer,
} from '../testing/embedded-folder.ts';
import { isPostgresProcess, until } from './postmaster.ts';

const SLEEPERS = sql`SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'`;

let template: EmbeddedTemplate;

beforeAll(async () => {
  template = await createEmbeddedTemplate();
});
afterAll(() => template?.remove());

describe('a folder that is started several times', () => {
  test('is shared by two starts in one folder, and stops with the first', async () => {
    const { start } = await openEmbeddedFolder(template);
    const first = await start();
    const second = await start();
    expect(second.url).toBe(first.url);
    await second.stop();
    expect(await queryServer(first.url, sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
  });

  test('is run by the second start after the first one stopped', async () => {
    const { start, serverRuns } = await openEmbeddedFolder(template);
    const first = await start();
    const second = await start();
    const third = await start();
    await queryServer(first.url, sql`CREATE TABLE kept AS SELECT 7 AS n`);
    await first.stop();
    for (const server of [second, third]) {
      await vi.waitFor(
        async () => expect(await queryServer(server.url, sql`SELECT n FROM kept`)).toEqual([{ n: 7 }]),
        20_000,
      );
      await server.stop();
    }
    expect(await until(async () => !(await serverRuns()), 20_000)).toBe(true);
  });

  test('two starts at the same moment in an empty folder end with one server', async () => {
    const { start, dataDir } = await openEmbeddedFolder();
    const [first, second] = await Promise.all([start(), start()]);
    expect(await queryServer(first.url, sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
    expect(second.url).toBe(first.url);
    expect((await readdir(dataDir)).toSorted()).toEqual([
      'data',
      'owner',
      'password',
      'port',
      'superuser-password',
    ]);
  });

  test('a server that lost its process is taken over, and stopped', async () => {
    const { start, dataDir, serverRuns } = await openEmbeddedFolder(template);
    const first = await start();
    await writeFile(join(dataDir, 'owner'), '999999999\n');
    const second = await start();
    expect(second.url).toBe(first.url);
    await second.stop();
    expect(await serverRuns()).toBe(false);
  });

  test('a lock file that names some other process is no obstacle', async () => {
    const { start, dataDir } = await openEmbeddedFolder(template);
    const first = await start();
    await first.stop();
    const text = [process.pid, '/somewhere', '1', '1', '', '127.0.0.1', '  0  0', 'ready   ', ''].join('\n');
    await writeFile(join(dataDir, 'data', 'postmaster.pid'), text);
    const second = await start();
    expect(await queryServer(second.url, sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
  });
});

describe('rights', () => {
  test('the program works as a role that owns its database and nothing else', async () => {
    const { start } = await openEmbeddedFolder(template);
    const server = await start();
    expect(
      await queryServer(
        server.url,
        sql`SELECT current_user AS role, rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user`,
      ),
    ).toEqual([{ role: 'chainstead', rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
    const database = openDatabase({ url: server.url, applicationName: 'test', logger: silentLogger() });
    try {
      expect((await migrate(database)).applied).toContain('0000_initial');
      await expect(database.query(sql`COPY schema_migrations TO PROGRAM 'true'`)).rejects.toMatchObject({
        code: '42501',
      });
    } finally {
      await database.close();
    }
    const analyst = await makeAnalyst(server);
    expect(await queryServer(analyst, sql`SELECT count(*) AS n FROM analytics.tokens`)).toEqual([{ n: 0 }]);
    await expect(queryServer(analyst, sql`SELECT count(*) FROM tokens`)).rejects.toMatchObject({ code: '42501' });
  });

  test('a server that refuses the login of the superuser is named by its setting, with the reason', async () => {
    const { start } = await openEmbeddedFolder(template);
    const { url, superuserUrl } = await start();
    const refusal = async (password: string): Promise<unknown> => {
      const given = new URL(superuserUrl);
      given.password = password;
      return provisionDatabase({ superuserUrl: given.href, programUrl: url }).catch((error: unknown) => error);
    };
    expect(await refusal('wrong')).toMatchObject({
      code: 'DATABASE_NOT_PROVISIONED',
      message: expect.stringMatching(
        /DATABASE_SUPERUSER_URL \(postgres:\/\/127[^)]+\) can't be used: password authentication failed for user "postgres"/,
      ),
      remedy: 'Check the host, role and password in DATABASE_SUPERUSER_URL',
    });
    expect(await refusal('')).toMatchObject({
      message: expect.stringContaining('the server asks for a password, and the URL has none'),
    });
  });

  test('a reader can take no advisory lock, and the program can', async () => {
    const { start } = await openEmbeddedFolder(template);
    const first = await start();
    const open = sql`SELECT count(*) AS functions, count(*) FILTER (WHERE has_function_privilege('public', oid, 'EXECUTE')) AS public,
        count(*) FILTER (WHERE has_function_privilege(current_user, oid, 'EXECUTE')) AS own
      FROM pg_proc WHERE proname LIKE '%\\_advisory\\_%'`;
    const [found] = await queryServer(first.url, open);
    expect(found).toMatchObject({ public: 0 });
    expect(found).toMatchObject({ own: Object(found).functions });
    expect(Object(found).functions).toBeGreaterThan(20);
    const analyst = await makeAnalyst(first);
    for (const call of ['pg_advisory_lock(1)', 'pg_try_advisory_xact_lock_shared(1, 2)'])
      await expect(queryServer(analyst, sql`SELECT ${rawSql(call)}`)).rejects.toMatchObject({ code: '42501' });
    await queryServer(first.url, sql`SELECT pg_advisory_lock(1), pg_advisory_unlock(1)`);
    // A privilege granted by another client.
    const superuser = new URL(first.superuserUrl);
    superuser.pathname = '/chainstead';
    await queryServer(superuser.href, sql`GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC`);
    await first.stop();
    const second = await start();
    expect(await queryServer(second.url, open)).toEqual([found]);
  });
});

/** Creates a role with read access. @returns its URL */
async function makeAnalyst({ url, superuserUrl }: { url: string; superuserUrl: string }): Promise<string> {
  await queryServer(superuserUrl, sql`CREATE ROLE analyst LOGIN PASSWORD 'x' IN ROLE chainstead_reader`);
  const analyst = new URL(url);
  analyst.username = 'analyst';
  analyst.password = 'x';
  return analyst.href;
}

test('a reader can fill neither the disk nor the WAL, and the program is not bound', async () => {
  const { start } = await openEmbeddedFolder(template);
  const server = await start();
  const analyst = await makeAnalyst(server);
  for (const statement of [
    'CREATE TEMPORARY TABLE large AS SELECT 1',
    'SELECT lo_create(0)',
    "SELECT lo_from_bytea(0, '\\x00')",
    "SELECT pg_logical_emit_message(false, 'x', 'y')",
    "SELECT pg_logical_emit_message(true, 'x', '\\x00'::bytea)",
    'SET temp_file_limit = -1',
  ])
    await expect(queryServer(analyst, rawSql(statement)), statement).rejects.toMatchObject({ code: '42501' });
  const limit = sql`SELECT current_setting('temp_file_limit') AS size`;
  expect(await queryServer(analyst, limit)).toEqual([{ size: '2GB' }]);
  expect(await queryServer(server.url, limit)).toEqual([{ size: '-1' }]);
  await queryServer(server.url, sql`CREATE TEMPORARY TABLE own AS SELECT 1`);
});

describe('a server that ends without being asked to', () => {
  test('ends by itself when its process is killed, and starts again', async () => {
    const { start, startElsewhere, serverRuns } = await openEmbeddedFolder(template);
    const { child, url } = await startElsewhere();
    await queryServer(url, sql`CREATE TABLE kept AS SELECT 7 AS n`);
    child.kill('SIGKILL');
    // Immediately, while the old server may still be shutting down.
    const next = await start();
    expect(await queryServer(next.url, sql`SELECT n FROM kept`)).toEqual([{ n: 7 }]);
    await next.stop();
    expect(await until(async () => !(await serverRuns()), 20_000)).toBe(true);
  });

  test('nothing remains of it when its process is killed and nobody starts it again', async () => {
    const { startElsewhere, serverPid } = await openEmbeddedFolder(template);
    const { child } = await startElsewhere();
    const pid = await serverPid();
    expect(await isPostgresProcess(pid)).toBe(true);
    child.kill('SIGKILL');
    expect(await until(async () => !(await isPostgresProcess(pid)), 20_000)).toBe(true);
  });

  test('a server that is killed is started again where it was, even while a session outlives it', async () => {
    const { start, serverPid, serverRuns } = await openEmbeddedFolder(template);
    const server = await start();
    await queryServer(server.url, sql`CREATE TABLE kept AS SELECT 7 AS n`);
    const sleeping = queryServer(server.url, sql`SELECT pg_sleep(600)`).catch((error: unknown) => error);
    await until(async () => (await queryServer(server.url, SLEEPERS)).length === 1, 10_000);
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    expect(await until(async () => (await serverRuns()) && (await serverPid()) !== pid, 20_000)).toBe(true);
    const database = openDatabase({ url: server.url, applicationName: 'test', logger: silentLogger() });
    try {
      await vi.waitFor(
        async () => expect(await database.query(sql`SELECT n FROM kept`)).toEqual([{ n: 7 }]),
        20_000,
      );
    } finally {
      await database.close();
    }
    expect(await sleeping).toBeInstanceOf(Error);
    await server.stop();
    expect(await serverRuns()).toBe(false);
  });

  test('is stopped for good in the middle of being started again', async () => {
    const { start, dataDir, serverPid, serverRuns } = await openEmbeddedFolder(template);
    const server = await start();
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await isPostgresProcess(pid)), 10_000);
    await server.stop();
    expect(await serverRuns()).toBe(false);
    expect(await readdir(dataDir)).not.toContain('owner');
  });
});

describe('a server that can not be started', () => {
  test('a setting that the server refuses is named in the error', async () => {
    const { start, serverRuns } = await openEmbeddedFolder();
    await expect(start({ settings: { fsync: 'off', no_such_setting: '1' } })).rejects.toMatchObject({
      code: 'EMBEDDED_POSTGRES_START',
      message: expect.stringContaining('no_such_setting'),
    });
    expect(await serverRuns()).toBe(false);
  });

  test('a folder that cannot be made is named in the error', async () => {
    const { start, path } = await openEmbeddedFolder();
    await writeFile(join(path, 'file'), '');
    const dataDir = join(path, 'file', 'state');
    await expect(start({ dataDir })).rejects.toMatchObject({
      code: 'EMBEDDED_POSTGRES_FOLDER',
      message: expect.stringContaining(dataDir),
    });
  });

  test('a port that is taken is named in the error', async () => {
    const { start, path } = await openEmbeddedFolder();
    const first = await start();
    const port = Number(new URL(first.url).port);
    await expect(start({ dataDir: join(path, 'other'), port })).rejects.toMatchObject({
      code: 'EMBEDDED_POSTGRES_START',
      message: expect.stringContaining('Address already in use'),
    });
  });
});
