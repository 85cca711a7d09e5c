/** Runs on a real cluster of three servers, if this machine's Postgres has Citus. */

import { silentLogger } from '@chainstead/core';
import { copyMigrations, createScratchDatabase, findCitus, type ScratchCitus } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../database.ts';
import { migrate } from '../migrations/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { sql } from '../sql.ts';
import { distributeTables } from './distribute-tables.ts';
import { planDistribution, waitingTables } from './plan-distribution.ts';
import { readLayout } from './read-layout.ts';
import { readCluster } from './read-shards.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';
import { digestTables, fillTables } from './testing/fill-tables.ts';

const citus = await findCitus('distributing a filled database');
const closing: (() => Promise<unknown>)[] = [];

it('refuses a database without Citus, and says what to do', async () => {
  const scratch = await createScratchDatabase();
  try {
    await expect(planDistribution(scratch.database)).rejects.toMatchObject({
      code: 'CITUS_MISSING',
      message: expect.stringContaining('CREATE EXTENSION citus'),
    });
    expect(await waitingTables(scratch.database)).toEqual([]);
    expect(await readCluster(scratch.database)).toBeNull();
  } finally {
    await scratch.drop();
  }
});

describe.runIf(citus !== undefined)('on a cluster', () => {
  let cluster: ScratchCitus;
  beforeAll(async () => {
    if (citus === undefined) throw new Error('There is no Citus');
    cluster = await citus.createCluster();
  });
  afterAll(async () => {
    for (const close of closing) await close();
    await cluster?.remove();
  });

  async function open(
    options: { readonly joined?: boolean; readonly distributed?: boolean } = {},
  ): Promise<{ url: string; database: Database }> {
    const scratch = await cluster.createDatabase(options);
    closing.push(() => scratch.drop());
    return scratch;
  }
  const connect = (url: string): Database => {
    const database = openDatabase({ url, applicationName: 'chainstead-test', logger: silentLogger() });
    closing.push(() => database.close());
    return database;
  };
  /** Returns the bytes of rows on the coordinator's own disk. */
  async function heldByCoordinator(database: Database, tables: readonly string[]): Promise<number> {
    const [held] = await database.query<{ bytes: number }>(
      sql`SELECT sum(pg_relation_size(oid))::float8 AS bytes FROM pg_class WHERE relkind = 'r' AND (relname = ANY(${tables}::text[])
         OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent::regclass::text = ANY(${tables}::text[])))`,
    );
    return held?.bytes ?? -1;
  }

  it('refuses one that has no workers, is a worker, or spreads tables otherwise', async () => {
    const alone = await open({ joined: false });
    await expect(planDistribution(alone.database)).rejects.toMatchObject({ code: 'CITUS_NO_WORKERS' });
    const other = await open();
    const name = new URL(other.url).pathname.slice(1);
    const [worker] = cluster.workers;
    await expect(planDistribution(connect(worker?.url(name) ?? ''))).rejects.toMatchObject({
      code: 'CITUS_NOT_COORDINATOR',
    });
    await other.database.query(sql`SELECT create_distributed_table('tokens', 'address')`);
    await other.database.query(sql`SELECT create_reference_table('feed_answers')`);
    await expect(planDistribution(other.database)).rejects.toMatchObject({
      code: 'CITUS_OTHER_LAYOUT',
      message: expect.stringMatching(
        /feed_answers is a reference table, not a local table; tokens is by address, not a reference table/,
      ),
    });
  });

  it('refuses a role that owns nothing there', async () => {
    const { url, database } = await open();
    await database.query(
      sql`DO $$ BEGIN CREATE ROLE stranger LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
    );
    await database.query(sql`GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger`);
    const stranger = new URL(url);
    stranger.username = 'stranger';
    await expect(planDistribution(connect(stranger.href))).rejects.toMatchObject({ code: 'CITUS_NOT_OWNER' });
  });

  it('keeps every row, whatever ends it in between, and finds nothing to do the next time', async () => {
    const { database } = await open();
    const tables = await fillTables(database);
    const before = await digestTables(database, tables);
    const plan = await planDistribution(database);
    expect(plan.tables.map(({ table }) => table).toSorted()).toEqual([...tables].toSorted());
    expect(
      plan.tables.every(({ work, rows, isCounted }) => work === 'distribute' && rows === 60 && isCounted),
    ).toBe(true);
    expect((await readLayout(database))?.tables.size).toBe(0);
    // Killed between two tables.
    let done = 0;
    const killed = distributeTables(database, plan, {
      onDone() {
        done += 1;
        if (done === 12) throw new Error('ended here');
      },
    });
    await expect(killed).rejects.toMatchObject({ code: 'DISTRIBUTION_FAILED' });
    expect(await digestTables(database, tables)).toEqual(before);
    // Killed after a table was distributed, before its local copy was truncated.
    await database.query(
      sql`SELECT create_distributed_table('erc20_transfer_sides', 'account_key', colocate_with => 'none')`,
    );
    const rest = await planDistribution(database);
    expect(rest.tables.find(({ table }) => table === 'erc20_transfer_sides')?.work).toBe('empty');
    expect(rest.tables.filter(({ work }) => work === 'none')).toHaveLength(12);
    // A crashed worker causes no data loss.
    const [worker] = cluster.workers;
    await worker?.crash();
    await expect(planDistribution(database)).rejects.toMatchObject({ code: 'CITUS_NODE_AWAY' });
    await expect(distributeTables(database, rest)).rejects.toMatchObject({ code: 'DISTRIBUTION_FAILED' });
    await worker?.restart();
    const answers = () => planDistribution(database).then(() => 'yes', String);
    await expect.poll(answers, { timeout: 20_000 }).toBe('yes');
    await distributeTables(database, await planDistribution(database));
    expect(await digestTables(database, tables)).toEqual(before);
    expect(await heldByCoordinator(database, tables)).toBe(0);
    expect((await planDistribution(database)).tables.filter(({ work }) => work !== 'none')).toEqual([]);
    await expectGroupsTogether(database);
  }, 120_000);

  it('distributes partitions that are made afterwards, tells their shards, and keeps whoever reads', async () => {
    const { database } = await open({ distributed: true });
    await database.query(sql`SELECT attach_partition('erc20_transfer_sides', 1, 0, 100)`);
    await database.query(sql`SELECT announce_partitions('erc20_transfer_sides')`);
    await database.query(
      sql`INSERT INTO erc20_transfer_sides SELECT n, 1, n, 0, 0, 0, address, address, address, 1, address
         FROM generate_series(1, 50) AS n, decode(repeat('aa', 20), 'hex') AS address`,
    );
    const spread = await database.query<{ node: string; shards: number }>(
      sql`SELECT nodename || ':' || nodeport AS node, count(*)::int AS shards FROM citus_shards WHERE table_name::text = 'erc20_transfer_sides_1_0' GROUP BY 1`,
    );
    expect(spread).toHaveLength(2);
    const [counted] = await database.query<{ rows: number }>(
      sql`SELECT count(*) AS rows FROM erc20_transfer_sides`,
    );
    expect(counted?.rows).toBe(50);
    const summary = await readCluster(database);
    expect(summary?.nodes).toHaveLength(3);
    expect(summary?.tables[0]).toMatchObject({ table: 'erc20_transfer_sides', shards: 4 });
    expect(summary?.tables[0]?.skew).toBeGreaterThanOrEqual(1);
    expect(summary).toMatchObject({ away: [], waiting: [] });
  }, 120_000);

  it('takes later migrations, and says which of their tables wait', async () => {
    const { database } = await open({ distributed: true });
    const copy = await copyMigrations();
    closing.push(() => copy.remove());
    await copy.write(
      '9999_later',
      `ALTER TABLE tokens ADD COLUMN later text;--> statement-breakpoint
       ALTER TABLE erc20_transfer_sides ADD COLUMN later integer;--> statement-breakpoint
       CREATE INDEX erc20_transfer_sides_later ON erc20_transfer_sides (account_key, later);--> statement-breakpoint
       DROP TABLE erc20_holder_minutes;--> statement-breakpoint
       CREATE TABLE erc20_holder_minutes (token bytea, chain_id bigint, PRIMARY KEY (token, chain_id))`,
    );
    expect((await migrate(database, { folder: copy.folder })).applied).toEqual(['9999_later']);
    expect(await waitingTables(database)).toEqual(['erc20_holder_minutes']);
    expect((await readCluster(database))?.waiting).toEqual(['erc20_holder_minutes']);
    await database.query(sql`DELETE FROM schema_migrations WHERE name = '9999_later'`);
    await distributeTables(database, await planDistribution(database));
    expect(await waitingTables(database)).toEqual([]);
    await expectGroupsTogether(database);
  }, 120_000);
});

/** Each group is a separate colocation. */
async function expectGroupsTogether(database: Database): Promise<void> {
  const layout = await readLayout(database);
  const groups = Map.groupBy([...(layout?.tables.values() ?? [])], ({ colocation }) => colocation);
  const placed = [...groups.values()].map((tables) => {
    const placements = tables.map(({ table }) => TABLE_PLACEMENTS[table]);
    return new Set(placements.map((one) => (one?.kind === 'distributed' ? one.group : one?.kind)));
  });
  expect(placed.map((kinds) => kinds.size)).toEqual(placed.map(() => 1));
  expect(placed).toHaveLength(new Set(placed.flatMap((kinds) => [...kinds])).size);
}
