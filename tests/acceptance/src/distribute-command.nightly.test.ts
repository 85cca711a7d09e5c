/** `chainstead distribute` on a real cluster of three servers, where this machine's Postgres has Citus. */
import { silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import {
  findCitus,
  queryCluster,
  type ScratchCitus,
  type ScratchCluster,
  type ScratchDatabase,
  startProgram,
} from '@chainstead/testkit';
import { runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const citus = await findCitus('the command distribute');
const TOKENS = 2_000;
const TRANSFERS = 60_000;

describe.runIf(citus !== undefined)('chainstead distribute', () => {
  let cluster: ScratchCitus;
  let scratch: ScratchDatabase;
  let environment: Record<string, string>;
  beforeAll(async () => {
    if (citus === undefined) throw new Error('There is no Citus');
    cluster = await citus.createCluster();
    scratch = await cluster.createDatabase();
    environment = { DATABASE_URL: scratch.url };
    await fill(scratch);
  });
  afterAll(async () => {
    await scratch?.drop();
    await cluster?.remove();
  });

  const run = (...args: string[]) => runCaptured(args, environment);
  const distributed = async (): Promise<number> => {
    const [found] = await scratch.database.query<{ tables: number }>(
      sql`SELECT count(*)::int AS tables FROM pg_dist_partition`,
    );
    return found?.tables ?? -1;
  };

  it('says what it would do, and changes nothing', async () => {
    const { exitCode, stdout, stderr } = await run('distribute', '--dry-run');
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/^erc20_transfer_sides +by account_key, colocated by account +distribute +60,000/m),
    ]);
    expect(stderr).toMatch(/^tokens +on every node +distribute +2,000/m);
    const { tables, ...rest }: { tables: object[] } = JSON.parse(stdout);
    expect(rest).toEqual({ work: 'distribute', dry_run: true });
    expect(tables).toContainEqual(
      expect.objectContaining({ table: 'erc20_transfer_sides', column: 'account_key', rows: TRANSFERS }),
    );
    expect(await distributed()).toBe(0);
    expect((await run('status')).stdout).not.toContain('cluster');
  });

  it('refuses to while the program runs', async () => {
    const client = await scratch.database.pool.connect();
    try {
      await client.query(`SET application_name = 'chainstead api'`);
      const { exitCode, stderr } = await run('distribute');
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(/while Chainstead is running: api[\s\S]*Stop Chainstead on every machine/),
      ]);
    } finally {
      client.release(true);
    }
    expect(await distributed()).toBe(0);
  });

  it('goes on where it was killed, keeps every row, and status shows how they lie', async () => {
    const before = await sums(scratch);
    const program = startProgram(['distribute'], { environment });
    await program.waitFor(/^erc20_transfer_sides: by account_key, colocated by account, 60,000 rows/m);
    program.signal('SIGKILL');
    expect(await program.exited).toBe('SIGKILL');
    expect(await sums(scratch)).toEqual(before);
    const killedAt = await distributed();
    expect(killedAt).toBeGreaterThan(5);
    const { exitCode, stderr } = await run('distribute');
    expect([exitCode, stderr]).toEqual([0, expect.not.stringMatching(/^tokens:/m)]);
    expect(await sums(scratch)).toEqual(before);
    expect(await distributed()).toBeGreaterThan(killedAt);
    const again = await run('distribute');
    expect(JSON.parse(again.stdout)).toEqual({ work: 'distribute', dry_run: false, tables: [], finished: true });
    const { stdout } = await run('status');
    expect(stdout).toMatch(
      /^cluster\n(?: {4}127\.0\.0\.1:\d+: \d+ shards, [\d.]+ [kM]B\n){3} {4}erc20_transfer_sides: 4 shards, [\d.]+ MB, the largest 1\.\d\d times the average$/m,
    );
    expect(stdout).toMatch(/^erc20_transfer_sides +60,000/m);
    const { cluster: shown } = JSON.parse((await run('status', '--json')).stdout);
    expect(shown).toMatchObject({ away: [], waiting: [] });
    expect(shown.tables[0]).toMatchObject({ table: 'erc20_transfer_sides', shards: 4 });
  });
});

describe.runIf(citus !== undefined)('chainstead distribute by a role that is no superuser', () => {
  it('sets up a new cluster as docs/operate/citus.md describes', { timeout: 180_000 }, async () => {
    if (citus === undefined) return;
    const { coordinator, workers, remove } = await citus.createCluster();
    onTestFinished(remove);
    for (const server of [coordinator, ...workers]) {
      // What the migrations and Citus make.
      await queryCluster(server, 'DROP ROLE chainstead_reader');
      await queryCluster(server, 'CREATE ROLE chainstead LOGIN CREATEROLE');
      await queryCluster(server, 'CREATE DATABASE chainstead OWNER chainstead');
      await asSuperuser(server, 'CREATE EXTENSION citus');
    }
    const [host, port] = coordinator.host.split(':');
    await asSuperuser(coordinator, `SELECT citus_set_coordinator_host('${host}', ${port})`);
    for (const worker of workers) {
      const [name, workerPort] = worker.host.split(':');
      await asSuperuser(coordinator, `SELECT citus_add_node('${name}', ${workerPort})`);
    }
    const ordinary = { DATABASE_URL: `postgres://chainstead@${coordinator.host}/chainstead` };
    for (const command of ['migrate', 'distribute']) {
      const { exitCode, stderr } = await runCaptured([command], ordinary);
      expect([command, exitCode, stderr]).toEqual([command, 0, expect.not.stringContaining('could not')]);
    }
    expect((await runCaptured(['status'], ordinary)).stdout).toMatch(
      /^cluster\n(?: {4}127\.0\.0\.1:\d+: \d+ shards, .*\n){3}/m,
    );
    for (const worker of workers)
      expect(
        await queryCluster(worker, `SELECT rolcanlogin FROM pg_roles WHERE rolname = 'chainstead_reader'`),
      ).toEqual([{ rolcanlogin: false }]);
  });
});

async function asSuperuser(server: ScratchCluster, statement: string): Promise<void> {
  const database = openDatabase({
    url: server.url('chainstead'),
    applicationName: 'superuser',
    poolSize: 1,
    logger: silentLogger(),
  });
  try {
    await database.query(rawSql(statement));
  } finally {
    await database.close();
  }
}

async function fill({ database }: ScratchDatabase): Promise<void> {
  await database.query(sql`SELECT attach_partition('erc20_transfer_sides', 1, 0, null)`);
  await database.query(
    sql`INSERT INTO erc20_transfer_sides SELECT hashint8(n)::bigint * 4294967296, 1, n / 100, 0, n, 0, decode(lpad(to_hex(n), 40, '0'), 'hex'),
       decode(repeat('aa', 20), 'hex'), decode(repeat('bb', 20), 'hex'), n, decode(repeat('cc', 32), 'hex') FROM generate_series(1, ${rawSql(TRANSFERS)}) AS n`,
  );
  await database.query(
    sql`INSERT INTO tokens (address, chain_id) SELECT decode(lpad(to_hex(n), 40, '0'), 'hex'), 1 FROM generate_series(1, ${rawSql(TOKENS)}) AS n`,
  );
  await database.query(sql`ANALYZE`);
}

/** What would change if a row were lost, or there twice. */
async function sums({ database }: ScratchDatabase): Promise<unknown> {
  const transfers = await database.query(
    sql`SELECT count(*) AS rows, sum(value) AS value, sum(log_index) AS places FROM erc20_transfer_sides`,
  );
  const tokens = await database.query(sql`SELECT count(*) AS rows FROM tokens`);
  return { transfers, tokens };
}
