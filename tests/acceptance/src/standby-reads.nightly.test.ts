/** The API on hot standbys: pages of runs that go from server to server, keys, what a request causes, and the program when a standby dies. */
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { migrate, openDatabase, openReads, type Reads } from '@chainstead/db/server';
import { seedCoverage, seedTransfers } from '@chainstead/erc20/testing';
import { createKeyStore, createRequestDatabase } from '@chainstead/http/server';
import {
  addressOf,
  findPostgresPrograms,
  pauseReplay,
  queryCluster,
  type ScratchCluster,
} from '@chainstead/testkit';
import {
  createApiUnderTest,
  readWallet,
  type ServedTransfer,
  TEST_KEY,
} from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startOutageStage, WAIT } from './outage-stage.ts';

const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write("NOT RUN: the API on standbys (Debian's postgresql is not on this machine)\n");

const registry = createChainRegistry();
const eth = registry.get('eth');
const WALLET = addressOf(0xa11ce);
/** Rows of one page: `api-under-test.ts`. */
const PAGE = 100;
const OLD = 4 * PAGE + 50;
const NEW = 3 * PAGE;

let primary: ScratchCluster;
let one: ScratchCluster;
let other: ScratchCluster;
const closing: (() => Promise<unknown>)[] = [];

async function untilReplayed(server: ScratchCluster, database: Database): Promise<void> {
  const [row] = await database.query<{ position: string }>(
    sql`SELECT pg_current_wal_flush_lsn()::text AS position`,
  );
  const hasReplayed = `SELECT pg_last_wal_replay_lsn() >= '${row?.position}' AS has`;
  await vi.waitFor(async () => expect(await queryCluster(server, hasReplayed)).toEqual([{ has: true }]), WAIT);
}

function* transfersIn(first: number, last: number) {
  for (let blockNumber = first; blockNumber <= last; blockNumber += 1)
    yield {
      from: WALLET,
      to: addressOf(0xb0b),
      token: addressOf(0xc0),
      value: 1n,
      blockNumber,
      transactionIndex: 0,
      logIndex: 0,
    };
}

const blocksOf = (transfers: readonly ServedTransfer[]): number[] =>
  transfers.map(({ block_number }) => Number(block_number));
const downFrom = (last: number): number[] => Array.from({ length: last }, (_, index) => last - index);

describe.runIf(programs !== undefined)('with standbys', () => {
  beforeAll(async () => {
    if (programs === undefined) return;
    primary = await programs.createCluster();
    closing.push(() => primary.remove());
    one = await primary.createStandby();
    closing.push(() => one.remove());
    other = await primary.createStandby();
    closing.push(() => other.remove());
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  describe('the API', () => {
    let database: Database;
    let reads: Reads;
    let api: Awaited<ReturnType<typeof createApiUnderTest>>;
    const metrics = createMetricsRegistry();

    beforeAll(async () => {
      database = openDatabase({ url: primary.url(), applicationName: 'api', logger: silentLogger() });
      await migrate(database);
      await seedTransfers(database, eth, transfersIn(1, OLD));
      await seedCoverage(database, eth, 0, OLD);
      for (const server of [one, other]) await untilReplayed(server, database);
      const { username, password } = new URL(primary.url());
      reads = await openReads({
        url: `postgres://${username}:${password}@${one.host},${other.host}/postgres`,
        primary: database,
        applicationName: 'api',
        poolSize: 4,
        prepared: true,
        lagMaxMs: 60_000,
        logger: silentLogger(),
        metrics,
      });
      const requests = createRequestDatabase(database, reads);
      api = await createApiUnderTest(database, registry, undefined, undefined, requests);
      // The secret of cursors was made just now.
      for (const server of [one, other]) await untilReplayed(server, database);
    });
    afterAll(async () => {
      await reads?.close();
      await database?.close();
    });

    async function answeredBy(host: string): Promise<number> {
      const metric = await metrics.getSingleMetric('chainstead_database_reads_total')?.get();
      const found = metric?.values.find(({ labels }) => labels.host === host && labels.outcome === 'answered');
      return found?.value ?? 0;
    }

    it('gives every row of a run once while one of them stands still and the other is killed', async () => {
      const runs = () => Promise.all(Array.from({ length: 8 }, () => readWallet(api, 'eth', WALLET)));
      for (const run of await runs()) expect(blocksOf(run)).toEqual(downFrom(OLD));
      for (const { host } of [one, other]) expect(await answeredBy(host)).toBeGreaterThan(0);

      await pauseReplay(other);
      await seedTransfers(database, eth, transfersIn(OLD + 1, OLD + NEW));
      await database.query(sql`UPDATE sync_ranges SET last_block = ${OLD + NEW}`);
      await untilReplayed(one, database);
      const before = await answeredBy(other.host);
      const lengths = new Set<number>();
      await vi.waitFor(async () => {
        // A run shows the state of its first page, whole.
        for (const run of await runs()) {
          lengths.add(run.length);
          expect(blocksOf(run)).toEqual(downFrom(run.length));
        }
        expect([...lengths].toSorted()).toEqual([OLD, OLD + NEW]);
      }, WAIT);
      expect(await answeredBy(other.host)).toBeGreaterThan(before);

      const first = await vi.waitFor(async () => {
        const page = await api.request(`/api/v2.2/${WALLET}/erc20/transfers?chain=eth`, {
          headers: { 'x-api-key': TEST_KEY },
        });
        const body = (await page.json()) as {
          cursor: string;
          result: ServedTransfer[];
          indexed: { to_block: string };
        };
        expect(blocksOf(body.result)[0]).toBe(OLD + NEW);
        expect(body.indexed.to_block).toBe(String(OLD + NEW));
        return body;
      }, WAIT);
      const stale = await answeredBy(other.host);
      const onPrimary = await answeredBy('primary');
      await one.crash();
      const second = await api.request(`/api/v2.2/${WALLET}/erc20/transfers?chain=eth&cursor=${first.cursor}`, {
        headers: { 'x-api-key': TEST_KEY },
      });
      expect(second.status).toBe(200);
      const { result } = (await second.json()) as { result: ServedTransfer[] };
      expect(blocksOf(result)).toEqual(downFrom(OLD + NEW).slice(PAGE, 2 * PAGE));
      expect([await answeredBy(other.host), await answeredBy('primary')]).toEqual([stale, onPrimary + 1]);
    });

    it('takes a key that was just made, and none that was revoked, though no standby has heard of either', async () => {
      const keys = createKeyStore({ database, configured: [] });
      const { key } = await keys.create('new');
      const status = async (): Promise<number> =>
        (await api.request(`/api/v2.2/${WALLET}/erc20/transfers?chain=eth`, { headers: { 'x-api-key': key } }))
          .status;
      expect(await status()).toBe(200);
      await keys.revoke(key);
      await vi.waitFor(async () => expect(await status()).toBe(401), WAIT);
      expect(await queryCluster(other, 'SELECT FROM api_keys')).toEqual([]);
    });
  });

  it('the program reads from one, answers what it has not replayed, and goes on without it', async () => {
    if (programs === undefined) return;
    const password = 'of-the-program';
    // A second try starts over.
    await queryCluster(primary, 'DROP DATABASE IF EXISTS chainstead WITH (FORCE)');
    await queryCluster(primary, 'DROP ROLE IF EXISTS chainstead');
    await queryCluster(primary, `CREATE ROLE chainstead LOGIN CREATEROLE PASSWORD '${password}'`);
    await queryCluster(primary, 'CREATE DATABASE chainstead OWNER chainstead');
    const standby = await primary.createStandby();
    closing.push(() => standby.remove());
    const urlOf = (hosts: readonly string[]): string =>
      `postgres://chainstead:${password}@${hosts.join(',')}/chainstead`;
    const stage = await startOutageStage({
      seed: 23,
      environment: {
        DATABASE_URL: urlOf([primary.host]),
        DATABASE_READ_URL: urlOf([primary.host, standby.host]),
      },
    });
    closing.push(() => stage.close());
    const { address, chain, page, untilReady, untilFollowed } = stage;
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${address}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(name));
      return line === undefined ? 0 : Number(line.split(' ').at(-1));
    };
    const answered = (host: string): Promise<number> =>
      metric(`chainstead_database_reads_total{host="${host}",outcome="answered"`);
    await vi.waitFor(async () => {
      expect((await page()).status).toBe(200);
      expect(await answered(standby.host)).toBeGreaterThan(0);
    }, WAIT);
    await vi.waitFor(
      async () => expect(await metric(`chainstead_database_standby_used{host="${standby.host}"`)).toBe(1),
      WAIT,
    );

    // Counted at the first request for it: the standby knows nothing of that yet.
    await pauseReplay(standby);
    chain.mine(3);
    await untilFollowed();
    const held = await Promise.all(
      chain.wallets.slice(0, 5).map((wallet) => fetch(`${address}/api/v2.2/${wallet}/nft?chain=scripted`)),
    );
    const answers = (await Promise.all(held.map((answer) => answer.json()))) as {
      status: string;
      result: unknown[];
    }[];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'SYNCED'));
    expect(answers.some(({ result }) => result.length > 0)).toBe(true);
    await vi.waitFor(
      async () =>
        expect(await metric(`chainstead_database_standby_lag_bytes{host="${standby.host}"`)).toBeGreaterThan(0),
      WAIT,
    );

    await standby.crash();
    for (let request = 0; request < 30; request += 1) expect((await page()).status).toBe(200);
    await untilReady(200);
    // Names of the primary among the standbys, and of the one that died.
    await vi.waitFor(() => expect(stage.said('The standby can not be read from')).toBe(2), WAIT);
    expect(stage.said('Reads go to the standby')).toBe(1);
    // Metrics are gathered once a second.
    await vi.waitFor(async () => expect(await answered('primary')).toBeGreaterThan(0), WAIT);
  });
});
