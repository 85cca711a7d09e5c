/** The running program on a Postgres of one's own with a standby: failover, then dump and restore as docs/operate/backup.md has it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { type Database, migrate, openDatabase } from '@chainstead/db';
import { findPostgresPrograms, type ScratchCluster, startProgram } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { scriptedChainFacts } from './indexed-chain.ts';
import { type OutageStage, startOutageStage, WAIT } from './outage-stage.ts';
import { expectTransferRows } from './transfer-rows.ts';

// Processes start slowly on a busy machine.
const PASSWORD = 'of-the-program';
const { id: CHAIN_ID } = scriptedChainFacts(31_337);
const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write("NOT RUN: dumps, and a standby that is promoted (Debian's postgresql is not on this machine)\n");

let folder: string;
let documented: Documented;
let primary: ScratchCluster;
let standby: ScratchCluster;
let stage: OutageStage | undefined;
const closing: (() => Promise<unknown>)[] = [];

/** Commands of docs/operate/backup.md, docs/start/production.md and docs/api/sql.md. */
interface Documented {
  readonly dump: string;
  /** The one of docs/start/production.md. */
  readonly firstDump: string;
  readonly restore: string;
  readonly readers: readonly string[];
  readonly swap: readonly string[];
  readonly provision: string;
}

async function readDocumented(): Promise<Documented> {
  const read = (name: string) => readFile(fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url)), 'utf8');
  const backup = await read('operate/backup.md');
  const only = (pattern: RegExp, text = backup): string => {
    const [found = '', ...others] = text.match(pattern) ?? [];
    expect([found === '', others]).toEqual([false, []]);
    return found;
  };
  return {
    dump: only(/^pg_dump .*$/gm),
    firstDump: only(/^pg_dump .*$/gm, await read('start/production.md')),
    restore: only(/^psql .*CREATE DATABASE restored.*\npg_restore .*$/gm),
    readers: only(/^GRANT USAGE ON SCHEMA analytics [^`]*/gm)
      .trim()
      .split('\n'),
    swap: only(/^DROP DATABASE [^`]*/gm)
      .trim()
      .split('\n'),
    provision: only(/^npx chainstead (provision)$/gm, await read('api/sql.md')).replace('npx chainstead ', ''),
  };
}

/** One pool, while the work runs. */
async function on<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const settings = { timezone: 'UTC' };
  const database = openDatabase({ url, applicationName: 'own', poolSize: 1, settings, logger: silentLogger() });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

function ask<Row extends object = object>(url: string, ...statements: readonly string[]): Promise<Row[]> {
  return on(url, async (database) => {
    let rows: Row[] = [];
    for (const statement of statements) rows = await database.query<Row>(statement);
    return rows;
  });
}

function asProgram(hosts: readonly string[], database = 'chainstead'): string {
  return `postgres://chainstead:${PASSWORD}@${hosts.join(',')}/${database}?target_session_attrs=read-write`;
}

/** As docs/api/sql.md has it. */
async function provision(server: Pick<ScratchCluster, 'host' | 'url'>): Promise<void> {
  const environment = { DATABASE_SUPERUSER_URL: server.url(), DATABASE_URL: asProgram([server.host]) };
  const provisioning = startProgram([documented.provision], { environment });
  expect([await provisioning.exited, provisioning.output()]).toEqual([0, expect.stringContaining('is provisioned')]);
}

/** What a user's shell does with a command of the documentation. @throws when it exits with anything but 0 */
async function run(command: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const env = { PATH: `${programs?.bin}:${process.env.PATH}`, LC_ALL: 'C', ...environment };
  const { stderr } = await promisify(execFile)('/bin/sh', ['-ec', command], { cwd: folder, env });
  return stderr;
}

/** Rows and a digest of them for each table and view of ours. */
function contentOf(url: string): Promise<Record<string, object | undefined>> {
  return on(url, async (database) => {
    const relations = await database.query<{ name: string }>(
      `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname IN ('public', 'analytics', 'bullmq') AND relkind IN ('r', 'p', 'v') ORDER BY 1`,
    );
    const content: Record<string, object | undefined> = {};
    for (const { name } of relations)
      [content[name]] = await database.query(
        `SELECT count(*) AS rows, md5(string_agg(row::text, ',' ORDER BY row::text)) AS digest FROM ${name} AS row`,
      );
    return content;
  });
}

describe.runIf(programs !== undefined)('on a Postgres of its own', () => {
  beforeAll(async () => {
    if (programs === undefined) return;
    folder = await mkdtemp(join(tmpdir(), 'chainstead-own-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    documented = await readDocumented();
    primary = await programs.createCluster();
    closing.push(() => primary.remove());
    await provision(primary);
    standby = await primary.createStandby();
    closing.push(() => standby.remove());
    const url = asProgram([primary.host, standby.host]);
    stage = await startOutageStage({ seed: 15, environment: { DATABASE_URL: url } });
    closing.push(async () => stage?.close());
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  it('the program goes on with the standby that is promoted when the primary is gone', async () => {
    if (stage === undefined) throw new TypeError('The program was not started');
    const { chain, page, untilFollowed, untilReady } = stage;
    await untilFollowed();
    expect((await page()).status).toBe(200);
    const copied = standby.url('chainstead');
    const checkpoint = async (): Promise<unknown> =>
      (await ask<{ checkpoint: number }>(copied, 'SELECT checkpoint FROM sync_chains'))[0]?.checkpoint;
    await vi.waitFor(async () => expect(await checkpoint()).toBe(chain.head), WAIT);
    expect(await ask(copied, 'SELECT pg_is_in_recovery() AS follows')).toEqual([{ follows: true }]);
    // What the primary commits from here on is lost with it.
    const received = chain.head;
    await ask(copied, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
    await vi.waitFor(async () => expect(await ask(copied, 'SELECT FROM pg_stat_wal_receiver')).toEqual([]), WAIT);
    chain.mine(5);
    await untilFollowed();
    expect(await checkpoint()).toBe(received);

    await primary.crash();
    await untilReady(503);
    expect((await page()).status).toBe(503);
    await standby.promote();
    await untilReady(200);
    expect((await page()).status).toBe(200);
    chain.mine(10);
    await untilFollowed();
    await vi.waitFor(() => on(copied, (database) => expectTransferRows(database, chain, CHAIN_ID)), WAIT);
    await stage.close();
  });

  it('its dump is restored on a server with none of its roles, and beside it, with every row', async () => {
    if (programs === undefined) return;
    const other = await programs.createCluster();
    closing.push(() => other.remove());
    await ask(other.url(), `CREATE ROLE owner LOGIN PASSWORD '${PASSWORD}'`);
    expect(await run(documented.dump, { DATABASE_URL: asProgram([primary.host, standby.host]) })).toBe('');
    const content = await contentOf(asProgram([standby.host]));
    expect(content['public.erc20_transfer_sides']).toMatchObject({ rows: expect.any(Number) });
    expect(Object.keys(content)).toEqual(expect.arrayContaining(['analytics.tokens', 'bullmq.job']));

    const there = `postgres://owner:${PASSWORD}@${other.host}/restored`;
    const restore = documented.restore.replace('OWNER chainstead', 'OWNER owner');
    expect(await run(restore, { SUPERUSER_URL: other.url(), RESTORED_URL: there })).toBe('');
    expect(await contentOf(there)).toEqual(content);
    expect(await on(there, (database) => migrate(database))).toEqual({ applied: [] });
    // Another server's programs may need advisory locks: rights to them are given, not restored.
    await ask(there, 'SELECT pg_advisory_lock(1)');

    const related = asProgram([standby.host], 'restored');
    expect(await run(documented.firstDump, { DATABASE_URL: asProgram([standby.host]) })).toBe('');
    expect(await run(documented.restore, { SUPERUSER_URL: standby.url(), RESTORED_URL: related })).toBe('');
    await ask(standby.url(), ...documented.swap);
    expect(await contentOf(asProgram([standby.host]))).toEqual(content);
    const migration = startProgram(['migrate'], { environment: { DATABASE_URL: asProgram([standby.host]) } });
    expect([await migration.exited, migration.output()]).toEqual([0, 'The schema is already up to date.\n']);
  });

  it('readers get their rights to what was restored', async () => {
    const own = asProgram([standby.host]);
    const readable = `SELECT has_table_privilege('chainstead_reader', 'analytics.tokens', 'SELECT') AS tokens`;
    expect(await ask(own, readable)).toEqual([{ tokens: false }]);
    await provision(standby);
    await ask(own, ...documented.readers);
    expect(await ask(own, readable)).toEqual([{ tokens: true }]);
    await ask(own, 'CREATE VIEW analytics.later AS SELECT 1');
    expect(
      await ask(
        own,
        `SELECT has_table_privilege('chainstead_reader', 'analytics.later', 'SELECT') AS later,
                has_table_privilege('chainstead_reader', 'public.tokens', 'SELECT') AS base`,
      ),
    ).toEqual([{ later: true, base: false }]);
  });
});
