import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import { isPostgresProcess, readPostmaster, until } from './postmaster.ts';
import { pickAccount } from './server-account.ts';
import { walMegabytes } from './wal-size.ts';

const settings = { fsync: 'off' };
/** Bytes that others may write to the disk, or remove from it, while a test looks at it. */
const OTHERS_WRITE = 5 * 1024 ** 3;
const asRoot = process.getuid?.() === 0;

describe('embedded Postgres', () => {
  /** Mode 0700, as mkdtemp makes it: as root, the server's account cannot enter it. */
  let folder: string;
  let dataDir: string;
  const started: EmbeddedPostgres[] = [];
  const children: ChildProcess[] = [];

  /** State of a server that was started once: to make a cluster takes longer than most tests need. */
  let template: string;

  beforeAll(async () => {
    template = await mkdtemp(join(tmpdir(), 'chainstead-embedded-template-'));
    const server = await startEmbeddedPostgres({ dataDir: join(template, 'state'), logger: silentLogger(), settings });
    await server.stop();
  });
  afterAll(() => rm(template, { recursive: true, force: true }));
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chainstead-embedded-'));
    dataDir = join(folder, 'deep', 'state');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const server of started.splice(0)) await server.stop();
    await until(async () => !(await serverRuns()), 20_000);
    await rm(folder, { recursive: true, force: true });
  });

  /** As after an earlier start and stop. */
  async function useTemplate(): Promise<void> {
    await mkdir(dirname(dataDir), { recursive: true });
    await promisify(execFile)('cp', ['-a', join(template, 'state'), dataDir]);
  }
  async function start(port?: number): Promise<EmbeddedPostgres> {
    const options = { dataDir, logger: silentLogger(), settings };
    const server = await startEmbeddedPostgres(port === undefined ? options : { ...options, port });
    started.push(server);
    return server;
  }
  async function ask(url: string, text: string): Promise<unknown[]> {
    const database = openDatabase({ url, applicationName: 'test', poolSize: 1, logger: silentLogger() });
    try {
      return await database.query(text);
    } finally {
      await database.close();
    }
  }
  async function serverPid(): Promise<number> {
    return (await readPostmaster(join(dataDir, 'data')))?.pid ?? 0;
  }
  async function serverRuns(): Promise<boolean> {
    const pid = await serverPid();
    return pid !== 0 && (await isPostgresProcess(pid));
  }
  /** Starts the server in another process, which says its URL and stays. */
  async function startElsewhere(
    options: { uid?: number; gid?: number } = {},
  ): Promise<{ child: ChildProcess; url: string }> {
    const program = `
      import { silentLogger } from '@chainstead/core';
      import { startEmbeddedPostgres } from './src/embedded-postgres.ts';
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, logger: silentLogger(), settings: { fsync: 'off' } });
      process.stdout.write(server.url);
      process.stdin.once('data', () => server.stop().then(() => process.exit(0)));
    `;
    const cwd = join(import.meta.dirname, '..');
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd,
      env: { LC_ALL: 'C', PGPORT: '1', PGDATA: '/nonexistent' },
      stdio: ['pipe', 'pipe', 'inherit'],
      ...options,
    });
    children.push(child);
    const url = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => ['exited'])]);
    return { child, url: String(url[0]) };
  }

  test('serves a UTF8 database in locale C, to those who know the password, on the loopback interface', async () => {
    const server = await start();
    expect(
      await ask(server.url, "SELECT current_database() AS name, current_setting('server_encoding') AS encoding"),
    ).toEqual([{ name: 'chainstead', encoding: 'UTF8' }]);
    expect(
      await ask(server.url, 'SELECT datcollate, datctype FROM pg_database WHERE datname = current_database()'),
    ).toEqual([{ datcollate: 'C', datctype: 'C' }]);
    expect(await ask(server.url, "SELECT current_setting('listen_addresses') AS address")).toEqual([
      { address: '127.0.0.1' },
    ]);
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(ask(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  test('keeps as much log between checkpoints as the disk can spare', async () => {
    const server = await start();
    const { bavail, bsize } = await statfs(dataDir);
    const [row] = await ask(
      server.url,
      "SELECT setting::int AS megabytes FROM pg_settings WHERE name = 'max_wal_size'",
    );
    const { megabytes } = row as { megabytes: number };
    expect(megabytes).toBeGreaterThanOrEqual(walMegabytes(bavail * bsize - OTHERS_WRITE));
    expect(megabytes).toBeLessThanOrEqual(walMegabytes(bavail * bsize + OTHERS_WRITE));
  });

  test('keeps its data from one start to the next, and its port when given one', async () => {
    await useTemplate();
    const first = await start();
    await ask(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    const port = Number(new URL(first.url).port);
    await first.stop();
    expect(await serverRuns()).toBe(false);
    const second = await start(port);
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  test('is shared by two starts in one folder, and stops with the first', async () => {
    await useTemplate();
    const first = await start();
    const second = await start();
    expect(second.url).toBe(first.url);
    await second.stop();
    expect(await ask(first.url, 'SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
  });

  test('two starts at the same moment in an empty folder end with one server', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    expect(await ask(first.url, 'SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
    expect(second.url).toBe(first.url);
    expect((await readdir(dataDir)).toSorted()).toEqual(['data', 'owner', 'password', 'superuser-password']);
  });

  test('ends by itself when its process is killed, and starts again', async () => {
    await useTemplate();
    const { child, url } = await startElsewhere();
    await ask(url, 'CREATE TABLE kept AS SELECT 7 AS n');
    child.kill('SIGKILL');
    // At once, while the old server may still be on its way down.
    const next = await start();
    expect(await ask(next.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await next.stop();
    expect(await until(async () => !(await serverRuns()), 20_000)).toBe(true);
  });

  test('nothing remains of it when its process is killed and nobody starts it again', async () => {
    await useTemplate();
    const { child } = await startElsewhere();
    const pid = await serverPid();
    expect(await isPostgresProcess(pid)).toBe(true);
    child.kill('SIGKILL');
    expect(await until(async () => !(await isPostgresProcess(pid)), 20_000)).toBe(true);
  });

  test('a server that lost its process is taken over, and stopped', async () => {
    await useTemplate();
    const first = await start();
    await writeFile(join(dataDir, 'owner'), '999999999\n');
    const second = await start();
    expect(second.url).toBe(first.url);
    await second.stop();
    expect(await serverRuns()).toBe(false);
  });

  test('a crash of the server itself is survived', async () => {
    await useTemplate();
    const first = await start();
    await ask(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await isPostgresProcess(pid)), 10_000);
    const second = await start();
    expect(await ask(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  test('a server that is killed is started again where it was, even while a session outlives it', async () => {
    await useTemplate();
    const server = await start();
    await ask(server.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    const sleeping = ask(server.url, 'SELECT pg_sleep(600)').catch((error: unknown) => error);
    await until(async () => (await ask(server.url, SLEEPERS)).length === 1, 10_000);
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    expect(await until(async () => (await serverRuns()) && (await serverPid()) !== pid, 20_000)).toBe(true);
    const database = openDatabase({ url: server.url, applicationName: 'test', logger: silentLogger() });
    try {
      await vi.waitFor(async () => expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 7 }]), 20_000);
    } finally {
      await database.close();
    }
    expect(await sleeping).toBeInstanceOf(Error);
    await server.stop();
    expect(await serverRuns()).toBe(false);
  });

  test('is stopped for good in the middle of being started again', async () => {
    await useTemplate();
    const server = await start();
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await isPostgresProcess(pid)), 10_000);
    await server.stop();
    expect(await serverRuns()).toBe(false);
    expect(await readdir(dataDir)).not.toContain('owner');
  });

  test('the program works as a role that owns its database and nothing else', async () => {
    await useTemplate();
    const server = await start();
    expect(
      await ask(
        server.url,
        `SELECT current_user AS role, rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user`,
      ),
    ).toEqual([{ role: 'chainstead', rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
    const database = openDatabase({ url: server.url, applicationName: 'test', logger: silentLogger() });
    try {
      expect((await migrate(database)).applied).toContain('0000_spine');
      await expect(database.query("COPY schema_migrations TO PROGRAM 'true'")).rejects.toMatchObject({ code: '42501' });
    } finally {
      await database.close();
    }
    await ask(server.superuserUrl, "CREATE ROLE analyst LOGIN PASSWORD 'x' IN ROLE chainstead_reader");
    const analyst = new URL(server.url);
    analyst.username = 'analyst';
    analyst.password = 'x';
    expect(await ask(analyst.href, 'SELECT count(*) AS n FROM analytics.tokens')).toEqual([{ n: 0 }]);
    await expect(ask(analyst.href, 'SELECT count(*) FROM tokens')).rejects.toMatchObject({ code: '42501' });
  });

  test('a reader can take no advisory lock, and the program can', async () => {
    await useTemplate();
    const first = await start();
    const open = `SELECT count(*) AS functions, count(*) FILTER (WHERE has_function_privilege('public', oid, 'EXECUTE')) AS public,
        count(*) FILTER (WHERE has_function_privilege(current_user, oid, 'EXECUTE')) AS own
      FROM pg_proc WHERE proname LIKE '%\\_advisory\\_%'`;
    const [found] = await ask(first.url, open);
    expect(found).toMatchObject({ public: 0 });
    expect(found).toMatchObject({ own: Object(found).functions });
    expect(Object(found).functions).toBeGreaterThan(20);
    await ask(first.superuserUrl, "CREATE ROLE analyst LOGIN PASSWORD 'x' IN ROLE chainstead_reader");
    const analyst = new URL(first.url);
    analyst.username = 'analyst';
    analyst.password = 'x';
    for (const call of ['pg_advisory_lock(1)', 'pg_try_advisory_xact_lock_shared(1, 2)'])
      await expect(ask(analyst.href, `SELECT ${call}`)).rejects.toMatchObject({ code: '42501' });
    await ask(first.url, 'SELECT pg_advisory_lock(1), pg_advisory_unlock(1)');
    // A database of an earlier version.
    const superuser = new URL(first.superuserUrl);
    superuser.pathname = '/chainstead';
    await ask(superuser.href, 'GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC');
    await first.stop();
    const second = await start();
    expect(await ask(second.url, open)).toEqual([found]);
  });

  test('a first start, and a second, is told of without a warning', async () => {
    for (const _ of [1, 2]) {
      const warn = vi.fn();
      const server = await startEmbeddedPostgres({ dataDir, logger: { ...silentLogger(), warn }, settings });
      started.push(server);
      expect(await ask(server.url, 'SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
      expect(warn.mock.calls).toEqual([]);
      await server.stop();
    }
  });

  test('what an earlier version made as superuser is handed over to the role', async () => {
    await useTemplate();
    const first = await start();
    await ask(first.superuserUrl, 'DROP DATABASE chainstead');
    await ask(first.superuserUrl, 'DROP ROLE chainstead');
    await ask(first.superuserUrl, 'CREATE DATABASE chainstead');
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
    expect(await ask(second.url, OWNED_BY_OTHERS)).toEqual([]);
    await ask(second.url, 'ALTER TABLE tokens ADD COLUMN altered int');
    await ask(second.url, "ALTER TYPE chainstead_jobs.state ADD VALUE 'active'");
    await ask(second.url, 'INSERT INTO chainstead_jobs.job (state) VALUES (NULL)');
    await ask(
      second.url,
      'CREATE OR REPLACE FUNCTION chainstead_jobs.next() RETURNS int LANGUAGE sql AS $$ SELECT 2 $$',
    );
    await ask(second.url, 'CREATE VIEW analytics.later AS SELECT 1 AS n');
    await ask(second.superuserUrl, "CREATE ROLE analyst LOGIN PASSWORD 'x' IN ROLE chainstead_reader");
    const analyst = new URL(second.url);
    analyst.username = 'analyst';
    analyst.password = 'x';
    expect(await ask(analyst.href, 'SELECT n FROM analytics.later')).toEqual([{ n: 1 }]);
    expect(await ask(analyst.href, 'SELECT count(*) AS n FROM analytics.tokens')).toEqual([{ n: 0 }]);
  });

  test('a lock file that names some other process is no obstacle', async () => {
    await useTemplate();
    const first = await start();
    await first.stop();
    const text = [process.pid, '/somewhere', '1', '1', '', '127.0.0.1', '  0  0', 'ready   ', ''].join('\n');
    await writeFile(join(dataDir, 'data', 'postmaster.pid'), text);
    const second = await start();
    expect(await ask(second.url, 'SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
  });

  test('a setting that the server refuses is named in the error', async () => {
    const starting = startEmbeddedPostgres({
      dataDir,
      logger: silentLogger(),
      settings: { ...settings, no_such_setting: '1' },
    });
    await expect(starting).rejects.toMatchObject({
      code: 'EMBEDDED_POSTGRES_START',
      message: expect.stringContaining('no_such_setting'),
    });
    expect(await serverRuns()).toBe(false);
  });

  test('a folder that cannot be made is named in the error', async () => {
    await writeFile(join(folder, 'file'), '');
    const starting = startEmbeddedPostgres({
      dataDir: join(folder, 'file', 'state'),
      logger: silentLogger(),
      settings,
    });
    await expect(starting).rejects.toMatchObject({
      code: 'EMBEDDED_POSTGRES_FOLDER',
      message: expect.stringContaining(join(folder, 'file', 'state')),
    });
  });

  test('a port that is taken is named in the error', async () => {
    await useTemplate();
    const first = await start();
    const other = startEmbeddedPostgres({
      dataDir: join(folder, 'other'),
      port: Number(new URL(first.url).port),
      logger: silentLogger(),
      settings,
    });
    await expect(other).rejects.toMatchObject({
      code: 'EMBEDDED_POSTGRES_START',
      message: expect.stringContaining('Address already in use'),
    });
  });

  test.runIf(asRoot)('works for an ordinary user too', async ({ skip }) => {
    const closed = closedFolderAbove(import.meta.dirname);
    if (closed !== null) {
      process.stderr.write(`NOT RUN: the embedded server as an ordinary user, who can't enter ${closed}\n`);
      skip();
    }
    const account = pickAccount('nobody:x:65534:65534::/:\n');
    if (account === undefined) throw new Error('the line names an account');
    await chmod(folder, 0o755);
    await mkdir(dataDir, { recursive: true });
    await chown(dataDir, account.uid, account.gid);
    const { child, url } = await startElsewhere(account);
    expect(await ask(url, "SELECT current_setting('server_encoding') AS encoding")).toEqual([{ encoding: 'UTF8' }]);
    child.stdin?.write('stop');
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    expect(await serverRuns()).toBe(false);
  });
});

const SLEEPERS = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'";

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

/** The first folder on the way to `path` that others than its owner can't enter; null when there is none. */
function closedFolderAbove(path: string): string | null {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder))
    if ((statSync(folder).mode & 0o001) === 0) return folder;
  return null;
}
