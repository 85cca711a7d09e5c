import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { migrate, openDatabase, startEmbeddedPostgres } from '@chainstead/db/server';
import { folderInMemory } from './memory-folder.ts';

/** A separate migrated, empty database. */
export interface ScratchDatabase {
  readonly url: string;
  readonly database: Database;
  /** Closes `database`, breaks every other connection and removes the database. */
  drop(): Promise<void>;
}

/** A Postgres server with a migrated template that databases are copied from. */
export interface ScratchServer {
  readonly adminUrl: string;
  readonly template: string;
  createDatabase(): Promise<ScratchDatabase>;
  /** Removes the template, and the server when it is our own. */
  stop(): Promise<void>;
}

export interface ScratchServerOptions {
  /** A server that runs already. @default an embedded one */
  readonly url?: string;
  /** Settings of the embedded server, over the fast ones: `{ fsync: 'on', synchronous_commit: 'on', … }` for honest benchmarks. */
  readonly settings?: Readonly<Record<string, string>>;
  /** True keeps the data in memory, if there is room. @default false */
  readonly isInMemory?: boolean;
}

export interface ScratchDatabaseOptions {
  /** False gives a database without a single table. @default true */
  readonly migrated?: boolean;
  /** False keeps the statistics as a test leaves them: an ANALYZE in the middle of its seed would change plans. @default true */
  readonly autovacuum?: boolean;
}

/** Postgres' own template, which must be unchanged. */
const EMPTY_TEMPLATE = 'template0';

/** How the test run's server reaches the test files' processes (see vitest-postgres.ts). */
export const SCRATCH_ADMIN_URL_VARIABLE = 'CHAINSTEAD_SCRATCH_ADMIN_URL';
export const SCRATCH_TEMPLATE_VARIABLE = 'CHAINSTEAD_SCRATCH_TEMPLATE';

/** Nothing in a scratch database outlives its run, so nothing waits for a disk. */
const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
};

/**
 * A database in the server that the test run's global set-up started. Outside of a test run, use {@link startScratchServer}.
 * @throws {Error} when there is no such server
 */
export async function createScratchDatabase(options: ScratchDatabaseOptions = {}): Promise<ScratchDatabase> {
  const adminUrl = process.env[SCRATCH_ADMIN_URL_VARIABLE];
  const template = process.env[SCRATCH_TEMPLATE_VARIABLE];
  if (adminUrl === undefined || template === undefined) {
    throw new Error('No scratch server: run under vitest with its global set-up, or use startScratchServer()');
  }
  const scratch = await copyTemplate(adminUrl, options.migrated === false ? EMPTY_TEMPLATE : template);
  if (options.autovacuum === false) await stopAutovacuum(scratch.database);
  return scratch;
}

/**
 * An embedded server in a temporary folder with fast, unsafe settings; or a template on the server of `url`, whose user must
 * be allowed to create databases. The template is made again for each server, so it always has today's migrations.
 */
export async function startScratchServer(options: ScratchServerOptions = {}): Promise<ScratchServer> {
  const server =
    options.url === undefined ? await startTemporaryServer(options) : { url: options.url, stop: async () => {} };
  const template = `scratch_template_${randomName()}`;
  try {
    await createTemplate(server.url, template);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    adminUrl: server.url,
    template,
    createDatabase: () => copyTemplate(server.url, template),
    async stop() {
      await dropDatabase(server.url, template);
      await server.stop();
    },
  };
}

async function startTemporaryServer({
  settings = {},
  isInMemory = false,
}: ScratchServerOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const prefix = 'chainstead-postgres-';
  const dataDir = await mkdtemp(join(isInMemory ? await folderInMemory(prefix) : tmpdir(), prefix));
  const server = await startEmbeddedPostgres({
    ...{ dataDir, logger: silentLogger() },
    settings: { ...FAST_SETTINGS, ...settings },
  });
  return {
    url: server.superuserUrl,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function createTemplate(adminUrl: string, template: string): Promise<void> {
  await asAdmin(adminUrl, (admin) =>
    admin.query(sql`CREATE DATABASE ${rawSql(template)} TEMPLATE ${rawSql(EMPTY_TEMPLATE)} ENCODING 'UTF8'`),
  );
  const database = open(withDatabase(adminUrl, template));
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

async function copyTemplate(adminUrl: string, template: string): Promise<ScratchDatabase> {
  const name = `scratch_${randomName()}`;
  // Copying files takes a fifth of the time of the default, which writes each page of the template to the WAL.
  await asAdmin(adminUrl, (admin) =>
    admin.query(
      sql`CREATE DATABASE ${rawSql(name)} TEMPLATE ${rawSql(template)} ENCODING 'UTF8' STRATEGY file_copy`,
    ),
  );
  const url = withDatabase(adminUrl, name);
  const database = open(url);
  return {
    url,
    database,
    async drop() {
      await database.close();
      await dropDatabase(adminUrl, name);
    },
  };
}

async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, (admin) => admin.query(sql`DROP DATABASE IF EXISTS ${rawSql(name)} WITH (FORCE)`));
}

async function asAdmin(adminUrl: string, work: (admin: Database) => Promise<unknown>): Promise<void> {
  const admin = open(adminUrl, 1);
  try {
    await work(admin);
  } finally {
    await admin.close();
  }
}

/** A machine that stalls, or copies many templates at once, may need so long to connect. */
const CONNECT_SECONDS = 60;

function open(given: string, poolSize = 10): Database {
  const url = new URL(given);
  url.searchParams.set('connect_timeout', String(CONNECT_SECONDS));
  return openDatabase({ url: url.href, applicationName: 'chainstead-test', poolSize, logger: silentLogger() });
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

function randomName(): string {
  return randomBytes(6).toString('hex');
}

/** Stops autovacuum on every table, including those that the test creates later: partitions above all. */
async function stopAutovacuum(database: Database): Promise<void> {
  await database.query(
    sql`DO $$ DECLARE name regclass; BEGIN
       FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
         EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
       END LOOP;
     END $$`,
  );
  await database.query(
    sql`CREATE FUNCTION scratch_stop_autovacuum() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE name regclass; BEGIN
       FOR name IN SELECT c.oid FROM pg_event_trigger_ddl_commands() d JOIN pg_class c ON c.oid = d.objid
                    WHERE d.classid = 'pg_class'::regclass AND c.relkind = 'r' AND c.relpersistence = 'p' LOOP
         EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
       END LOOP;
     END $$`,
  );
  await database.query(
    sql`CREATE EVENT TRIGGER stop_autovacuum ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
     EXECUTE FUNCTION scratch_stop_autovacuum()`,
  );
}
