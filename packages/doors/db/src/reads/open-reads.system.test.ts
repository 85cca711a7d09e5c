/** Reads on real standbys: two that stream from a primary, and are paused, killed or in conflict with replay. */

import { createLogger, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { findPostgresPrograms, pauseReplay, queryCluster, type ScratchCluster } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '../database.ts';
import { openDatabase } from '../open-database.ts';
import { sql } from '../sql.ts';
import { openReads, type Reads, type ReadsOptions } from './open-reads.ts';
import { parseWalPosition } from './wal-position.ts';

const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write("NOT RUN: reads on standbys (Debian's postgresql is not on this machine)\n");

const WAIT = { timeout: 20_000, interval: 20 };
const READ = sql`SELECT state, inet_server_port() AS port FROM shown WHERE ${true}`;

describe.runIf(programs !== undefined)('reads', () => {
  let primary: ScratchCluster;
  let one: ScratchCluster;
  let other: ScratchCluster;
  let database: Database;
  let closing: (() => Promise<unknown>)[] = [];
  let lines: string[] = [];
  let metrics = createMetricsRegistry();

  const portOf = ({ host }: ScratchCluster): number => Number(host.split(':')[1]);

  const resume = (server: ScratchCluster): Promise<object[]> =>
    queryCluster(server, sql`SELECT pg_wal_replay_resume()`);

  async function open(servers: readonly ScratchCluster[], options: Partial<ReadsOptions> = {}): Promise<Reads> {
    const hosts = servers.map(({ host }) => host).join(',');
    const { username, password } = new URL(primary.url());
    const reads = await openReads({
      url: `postgres://${username}:${password}@${hosts}/postgres`,
      primary: database,
      applicationName: 'reads',
      poolSize: 4,
      prepared: true,
      lagMaxMs: 60_000,
      logger: createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } }),
      metrics,
      ...options,
    });
    closing.push(() => reads.close());
    return reads;
  }

  const write = (state: number): Promise<object[]> => database.query(sql`UPDATE shown SET state = ${state}`);

  async function untilReplayed(server: ScratchCluster): Promise<void> {
    const [row] = await database.query<{ position: string }>(
      sql`SELECT pg_current_wal_flush_lsn()::text AS position`,
    );
    await vi.waitFor(async () => {
      const [found] = await queryCluster<{ position: string }>(
        server,
        sql`SELECT pg_last_wal_replay_lsn()::text AS position`,
      );
      expect(parseWalPosition(found?.position ?? '0/0')).toBeGreaterThanOrEqual(
        parseWalPosition(row?.position ?? '0/0'),
      );
    }, WAIT);
  }

  interface Shown {
    readonly state: number;
    readonly port: number;
  }

  /** Returns the result of one request, which sees at least the state of `after`. */
  async function read(
    reads: Reads,
    after?: string | null,
  ): Promise<Shown & { readonly position: string | null }> {
    const session = reads.session(database);
    if (after !== undefined) session.requireAtLeast(after);
    const [row] = await session.select<Shown>(READ);
    if (row === undefined) throw new TypeError('The row is gone');
    return { ...row, position: session.position };
  }

  async function counted(): Promise<Record<string, number>> {
    const metric = await metrics.getSingleMetric('chainstead_database_reads_total')?.get();
    return Object.fromEntries(
      (metric?.values ?? []).map(({ labels, value }) => [`${labels.host} ${labels.outcome}`, value]),
    );
  }

  beforeAll(async () => {
    if (programs === undefined) return;
    primary = await programs.createCluster();
    await queryCluster(primary, sql`CREATE TABLE shown AS SELECT 0 AS state`);
    one = await primary.createStandby();
    other = await primary.createStandby();
  });
  afterAll(async () => {
    for (const server of [other, one, primary]) await server?.remove();
  });
  beforeEach(() => {
    lines = [];
    metrics = createMetricsRegistry();
    database = openDatabase({ url: primary.url(), applicationName: 'primary', logger: silentLogger() });
    closing = [() => database.close()];
  });
  afterEach(async ({ task }) => {
    for (const close of closing.toReversed()) await close();
    if (task.result?.state === 'fail') process.stdout.write(`${await replication()}\n`);
  });

  /**
   * Returns the replication state of all servers: a stalled standby silently makes the primary respond, which no
   * assertion would explain.
   */
  async function replication(): Promise<string> {
    const sent = sql`SELECT pg_current_wal_flush_lsn()::text AS flushed, json_agg(senders) FROM pg_stat_replication AS senders`;
    const replayed = sql`SELECT pg_last_wal_replay_lsn()::text AS replayed, json_agg(receivers) FROM pg_stat_wal_receiver AS receivers`;
    const found = await Promise.all([
      queryCluster(primary, sent),
      ...[one, other].map((server) => queryCluster(server, replayed)),
    ]);
    return JSON.stringify(found);
  }

  test('are answered by the standbys in turn, and say which state of the log they show', async () => {
    await write(1);
    const reads = await open([one, other]);
    await vi.waitFor(async () => {
      const shown = [await read(reads), await read(reads)];
      expect(shown.map(({ port }) => port).toSorted()).toEqual([one, other].map(portOf).toSorted());
      expect(shown.map(({ state }) => state)).toEqual([1, 1]);
      expect(shown.every(({ position }) => position !== null)).toBe(true);
    }, WAIT);
    expect(lines.filter((line) => line.includes('Reads go to the standby'))).toHaveLength(2);
  });

  test('of what nobody knows, and after the primary was asked, are answered by the primary', async () => {
    const reads = await open([one, other]);
    expect((await read(reads, null)).port).toBe(portOf(primary));
    const session = reads.session(database);
    session.stayOnPrimary();
    expect(await session.select(READ)).toMatchObject([{ port: portOf(primary) }]);
  });

  test('never show less than was seen: by a standby that has replayed it, and where none has by the primary', async () => {
    const reads = await open([one, other]);
    await untilReplayed(one);
    await untilReplayed(other);
    await pauseReplay(other);
    await write(2);
    await untilReplayed(one);
    try {
      // A session that has read nothing may read the state of the slow one.
      const first = await vi.waitFor(async () => {
        const shown = await read(reads);
        expect(shown).toMatchObject({ state: 2, port: portOf(one) });
        return shown;
      }, WAIT);
      for (let page = 0; page < 10; page += 1)
        expect(await read(reads, first.position)).toMatchObject({ state: 2, port: portOf(one) });
      await pauseReplay(one);
      await write(3);
      const newest = await read(reads, null);
      expect(newest).toMatchObject({ state: 3, port: portOf(primary) });
      for (let page = 0; page < 4; page += 1)
        expect(await read(reads, newest.position)).toMatchObject({ state: 3, port: portOf(primary) });
      // A read that waits for the standby gets its response in time.
      await resume(one);
      await untilReplayed(one);
      await vi.waitFor(async () => expect((await read(reads, newest.position)).port).toBe(portOf(one)), WAIT);
    } finally {
      await resume(one);
      await resume(other);
    }
  });

  test('of what is remembered are not gone behind by others', async () => {
    const reads = await open([one, other]);
    await untilReplayed(one);
    await untilReplayed(other);
    await pauseReplay(other);
    try {
      await write(4);
      await untilReplayed(one);
      const session = reads.session(database);
      await vi.waitFor(async () => expect(await session.selectLasting(READ)).toMatchObject([{ state: 4 }]), WAIT);
      for (let request = 0; request < 6; request += 1) expect((await read(reads)).state).toBe(4);
    } finally {
      await resume(other);
    }
  });

  test('that have seen something never see an older state, whoever pauses meanwhile', async () => {
    const reads = await open([one, other]);
    let isOver = false;
    const writing = (async () => {
      for (let state = 100; !isOver; state += 1) {
        await write(state);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    const clients = Array.from({ length: 6 }, async () => {
      let [state, position] = [0, null as string | null];
      while (!isOver) {
        const shown = position === null ? await read(reads) : await read(reads, position);
        expect(shown.state).toBeGreaterThanOrEqual(state);
        ({ state, position } = shown);
      }
      return state;
    });
    try {
      for (const server of [one, other, one, other]) {
        await pauseReplay(server);
        await new Promise((resolve) => setTimeout(resolve, 200));
        await resume(server);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    } finally {
      isOver = true;
      await writing;
    }
    for (const state of await Promise.all(clients)) expect(state).toBeGreaterThan(100);
    const counts = await counted();
    for (const { host } of [one, other]) expect(counts[`${host} answered`]).toBeGreaterThan(0);
    expect(await reads.session(database).select(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
  });

  test('are not sent to a standby that lags too much, whose lag is measured', async () => {
    const reads = await open([other], { lagMaxMs: 500 });
    await untilReplayed(other);
    await vi.waitFor(async () => expect((await read(reads)).port).toBe(portOf(other)), WAIT);
    await pauseReplay(other);
    const gauge = async (name: string): Promise<number | undefined> =>
      (await metrics.getSingleMetric(`chainstead_database_standby_${name}`)?.get())?.values[0]?.value;
    try {
      await write(5);
      await vi.waitFor(async () => expect((await read(reads)).port).toBe(portOf(primary)), WAIT);
      expect(await gauge('lag_seconds')).toBeGreaterThan(0.5);
      expect(await gauge('lag_bytes')).toBeGreaterThan(0);
      expect(await gauge('used')).toBe(0);
    } finally {
      await resume(other);
    }
    await vi.waitFor(async () => expect((await read(reads)).port).toBe(portOf(other)), WAIT);
    await vi.waitFor(
      async () =>
        expect([await gauge('lag_seconds'), await gauge('lag_bytes'), await gauge('used')]).toEqual([0, 0, 1]),
      WAIT,
    );
  });

  test('that a standby cancels for what it has to replay are done elsewhere', async () => {
    await queryCluster(other, sql`ALTER SYSTEM SET max_standby_streaming_delay = 0`);
    await queryCluster(other, sql`SELECT pg_reload_conf()`);
    const reads = await open([other]);
    await database.query(sql`CREATE TABLE IF NOT EXISTS cleaned AS SELECT generate_series(1, 1000) AS row`);
    await untilReplayed(other);
    await vi.waitFor(async () => expect((await read(reads)).port).toBe(portOf(other)), WAIT);
    const slow = reads
      .session(database)
      .select(
        sql`SELECT count(*)::int AS rows, inet_server_port() AS port FROM cleaned, (SELECT pg_sleep(CASE WHEN pg_is_in_recovery() THEN ${600} ELSE 0 END) OFFSET 0) AS slept GROUP BY port`,
      );
    await vi.waitFor(
      async () =>
        expect(
          await queryCluster(
            other,
            sql`SELECT FROM pg_stat_activity WHERE query LIKE '%FROM cleaned, %' AND state = 'active'`,
          ),
        ).not.toEqual([]),
      WAIT,
    );
    await database.query(sql`DELETE FROM cleaned WHERE row <= 500`);
    await database.query(sql`VACUUM cleaned`);
    expect(await slow).toEqual([{ rows: 500, port: portOf(primary) }]);
    expect(await counted()).toMatchObject({ [`${other.host} conflict`]: 1, 'primary answered': 1 });
    expect(lines.filter((line) => line.includes('hot_standby_feedback'))).toHaveLength(1);
    expect((await read(reads)).port).toBe(portOf(other));
  });

  test('are sent to no copy of another database, and to no primary', async () => {
    const stranger = await programs?.createCluster();
    if (stranger === undefined) return;
    closing.push(() => stranger.remove());
    const reads = await open([primary]);
    expect((await read(reads)).port).toBe(portOf(primary));
    expect(lines.join()).toContain('it replays no WAL');
    // Both have the same password.
    const others = await open([stranger], { metrics: createMetricsRegistry() });
    expect((await read(others)).port).toBe(portOf(primary));
    expect(lines.join()).toContain('is not a standby of the server in DATABASE_URL');
  });

  test('fail for nobody when a standby is killed, which is told once', async () => {
    const doomed = await primary.createStandby();
    closing.push(() => doomed.remove());
    const reads = await open([doomed, one]);
    await untilReplayed(doomed);
    let isOver = false;
    let answered = 0;
    const asking = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        await read(reads);
        answered += 1;
      }
    });
    await vi.waitFor(async () => expect((await counted())[`${doomed.host} answered`]).toBeGreaterThan(20), WAIT);
    await doomed.crash();
    const before = answered;
    await vi.waitFor(() => expect(answered).toBeGreaterThan(before + 200), WAIT);
    isOver = true;
    await Promise.all(asking);
    expect(lines.filter((line) => line.includes('can not be read from'))).toHaveLength(1);
    expect((await counted())[`${one.host} answered`]).toBeGreaterThan(0);
  });

  test('stop when nobody waits for them any more', async () => {
    const reads = await open([one]);
    await vi.waitFor(async () => expect((await read(reads)).port).toBe(portOf(one)), WAIT);
    const leaving = new AbortController();
    const slow = reads.session(database, leaving.signal).select(sql`SELECT pg_sleep(${600})::text`);
    const active = sql`SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(%' AND state = 'active'`;
    await vi.waitFor(async () => expect(await queryCluster(one, active)).not.toEqual([]), WAIT);
    leaving.abort(new RangeError('gone'));
    await expect(slow).rejects.toThrow('gone');
    await vi.waitFor(async () => expect(await queryCluster(one, active)).toEqual([]), WAIT);
  });
});
