/** The running program behind a proxy that turns from a primary to the promoted standby: the program knows one host, and gets no notice. */
import { silentLogger } from '@chainstead/core';
import { rawSql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { findPostgresPrograms, openSwitchedLine, type ScratchCluster } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { scriptedChainFacts } from './indexed-chain.ts';
import { startOutageStage, WAIT } from './outage-stage.ts';
import { expectTransferRows } from './transfer-rows.ts';

const PASSWORD = 'of-the-program';
const { id: CHAIN_ID } = scriptedChainFacts(31_337);
const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write("NOT RUN: failover behind a proxy (Debian's postgresql is not on this machine)\n");

const lineTo = ({ host }: ScratchCluster): { readonly host: string; readonly port: number } => {
  const [name = '', port] = host.split(':');
  return { host: name, port: Number(port) };
};

async function ask<Row extends object>(url: string, ...statements: readonly string[]): Promise<Row[]> {
  const database = openDatabase({ url, applicationName: 'asks', poolSize: 1, logger: silentLogger() });
  try {
    let rows: Row[] = [];
    for (const statement of statements) rows = await database.query<Row>(rawSql(statement));
    return rows;
  } finally {
    await database.close();
  }
}

describe.runIf(programs !== undefined)('the program follows a proxy to the promoted standby', () => {
  test.each([
    // The former primary is gone with its connections.
    ['cut', 31],
    // It runs, but is unreachable: its connections stay open on both sides, and nothing gets through.
    ['hang', 32],
  ] as const)(
    'when connections to the former primary %s: no row is lost or doubled, and no process is started again',
    { timeout: 300_000 },
    async (former, seed) => {
      if (programs === undefined) return;
      const primary = await programs.createCluster();
      onTestFinished(() => primary.remove());
      await ask(
        primary.url(),
        `CREATE ROLE chainstead LOGIN CREATEROLE PASSWORD '${PASSWORD}'`,
        'CREATE DATABASE chainstead OWNER chainstead',
      );
      const standby = await primary.createStandby();
      onTestFinished(() => standby.remove());
      const line = await openSwitchedLine(lineTo(primary));
      onTestFinished(() => line.close());
      const url = `postgres://chainstead:${PASSWORD}@127.0.0.1:${line.port}/chainstead`;
      const stage = await startOutageStage({ seed, environment: { DATABASE_URL: url } });
      onTestFinished(() => stage.close());
      const { chain, page, untilFollowed, untilReady, said } = stage;
      const copied = standby.url('chainstead');
      const checkpoint = async (): Promise<unknown> =>
        (await ask<{ checkpoint: number }>(copied, 'SELECT checkpoint FROM sync_chains'))[0]?.checkpoint;
      await vi.waitFor(async () => expect(await checkpoint()).toBe(chain.head), WAIT);
      // What the primary commits from here on is lost with it.
      await ask(copied, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
      await vi.waitFor(
        async () => expect(await ask(copied, 'SELECT FROM pg_stat_wal_receiver')).toEqual([]),
        WAIT,
      );
      chain.mine(5);
      await untilFollowed();

      if (former === 'cut') await primary.crash();
      await standby.promote();
      line.switchTo(lineTo(standby), former);
      if (former === 'hang') expect(line.hanging).toBeGreaterThan(0);
      chain.mine(10);
      chain.reorg(3, 5);
      await vi.waitFor(async () => expect(await checkpoint()).toBe(chain.head), WAIT);
      await untilReady(200);
      await vi.waitFor(async () => expect((await page()).status).toBe(200), WAIT);
      chain.mine(5);
      await untilFollowed();
      const rows = openDatabase({ url: copied, applicationName: 'rows', logger: silentLogger() });
      onTestFinished(() => rows.close());
      await vi.waitFor(() => expectTransferRows(rows, chain, CHAIN_ID), WAIT);
      expect(said('Role process ended unexpectedly')).toBe(0);
    },
  );
});
