import { silentLogger } from '@chainstead/core';
import { findCitus, queryCluster, type ScratchCitus, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseUnavailableError } from '../database-outage.ts';
import { openDatabase } from '../open-database.ts';
import { rawSql, type Sql, sql, statementOf } from '../sql.ts';
import { commitLock } from './commit-lock.ts';
import { distributeTables } from './distribute-tables.ts';
import { planDistribution } from './plan-distribution.ts';
import { isSpread } from './table-placements.ts';

const programs = await findCitus('commits after a crash');

describe.runIf(programs !== undefined)('on a cluster', () => {
  let cluster: ScratchCitus;
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    if (programs === undefined) return;
    cluster = await programs.createCluster();
    scratch = await cluster.createDatabase();
  });
  afterAll(async () => {
    await scratch?.drop();
    await cluster?.remove();
  });

  const lock = () => scratch.database.transaction((transaction) => commitLock(transaction, 'of a chain'));
  const setRecovery = async (interval: string) => {
    await scratch.database.query(sql`ALTER SYSTEM SET citus.recover_2pc_interval = '${rawSql(interval)}'`);
    await scratch.database.query(sql`SELECT pg_reload_conf()`);
  };

  async function onWorker(...statements: readonly Sql[]): Promise<void> {
    const [worker] = cluster.workers;
    const url = worker?.url(new URL(scratch.url).pathname.slice(1)) ?? '';
    const database = openDatabase({ url, applicationName: 'prepares', poolSize: 1, logger: silentLogger() });
    try {
      for (const statement of statements) await database.query(statement);
    } finally {
      await database.close();
    }
  }

  /** Leaves a prepared transaction on a worker, like a coordinator that is about to commit. */
  const prepare = (name: string) =>
    onWorker(sql`BEGIN`, sql`CREATE TABLE left_behind (row int)`, sql`PREPARE TRANSACTION '${rawSql(name)}'`);

  it('who was told that nothing is distributed is told otherwise once it is, and then asks no more', async () => {
    await scratch.database.transaction(async (transaction) => {
      expect(await isSpread(transaction)).toBe(false);
      await distributeTables(scratch.database, await planDistribution(scratch.database));
      expect(await isSpread(transaction)).toBe(true);
      const requested: string[] = [];
      const reported = await isSpread({
        client: transaction.client,
        query: async (statement) => {
          requested.push(statementOf(statement).text);
          return [];
        },
      });
      expect([reported, requested]).toEqual([true, []]);
    });
  });

  it('a commit waits for those that are in flight', async () => {
    await setRecovery('-1');
    await prepare('citus_0_1_1_0');
    const events: string[] = [];
    const locked = lock().then(() => events.push('locked'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    events.push('settled');
    await onWorker(sql`ROLLBACK PREPARED 'citus_0_1_1_0'`);
    await locked;
    expect(events).toEqual(['settled', 'locked']);
  });

  it('nothing is committed while something is in doubt, until the cluster has settled it', async () => {
    await setRecovery('-1');
    const name = 'citus_0_2_2_0';
    await prepare(name);
    await expect(lock()).rejects.toThrow(DatabaseUnavailableError);
    await expect(lock()).rejects.toMatchObject({
      facts: { sqlstate: '08007' },
      message: expect.stringContaining(`${name} on 127.0.0.1:`),
    });
    await setRecovery('1s');
    await expect.poll(() => lock().then(() => 'locked', String), { timeout: 20_000 }).toBe('locked');
  });

  it('nor while a node is away, which may have something', async () => {
    const [worker] = cluster.workers;
    await worker?.crash();
    await expect(lock()).rejects.toMatchObject({ facts: { sqlstate: '08006' } });
    await worker?.restart();
    await expect.poll(() => lock().then(() => 'locked', String), { timeout: 20_000 }).toBe('locked');
    // Transactions prepared by other clients of the server are ignored.
    if (worker !== undefined) expect(await queryCluster(worker, sql`SELECT FROM pg_prepared_xacts`)).toEqual([]);
  });
});
