/** The running program on a Postgres of one's own with a standby: failover. */
import { silentLogger } from '@chainstead/core';
import { type Database, rawSql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
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
  process.stdout.write("NOT RUN: a standby that is promoted (Debian's postgresql is not on this machine)\n");

let primary: ScratchCluster;
let standby: ScratchCluster;
let stage: OutageStage | undefined;
const closing: (() => Promise<unknown>)[] = [];

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
    for (const statement of statements) rows = await database.query<Row>(rawSql(statement));
    return rows;
  });
}

function asProgram(hosts: readonly string[]): string {
  return `postgres://chainstead:${PASSWORD}@${hosts.join(',')}/chainstead?target_session_attrs=read-write`;
}

async function provision(server: Pick<ScratchCluster, 'host' | 'url'>): Promise<void> {
  const environment = { DATABASE_SUPERUSER_URL: server.url(), DATABASE_URL: asProgram([server.host]) };
  const provisioning = startProgram(['provision'], { environment });
  expect([await provisioning.exited, provisioning.output()]).toEqual([
    0,
    expect.stringContaining('is provisioned'),
  ]);
}

describe.runIf(programs !== undefined)('on a Postgres of its own', () => {
  beforeAll(async () => {
    if (programs === undefined) return;
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
});
