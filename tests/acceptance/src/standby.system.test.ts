/** Two ingests of one chain on one database: one leads, the other stands by and takes over, and nothing is lost or doubled. */
import { silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { describe } from 'vitest';
import { hastyClock, type Indexer, waitUntil } from './indexed-chain.ts';
import { expectEqualToFreshIndex, expectTruth, untilIndexed } from './indexed-tables.ts';
import { type Stage, stagedTest } from './stage.ts';

/** A database with separate connections, named so that they can be found in `pg_stat_activity`. */
function connect(stage: Stage, applicationName: string): Database {
  const database = openDatabase({ url: stage.scratch.url, applicationName, poolSize: 4, logger: silentLogger() });
  stage.closeLater(() => database.close());
  return database;
}

async function leads(indexer: Indexer): Promise<boolean> {
  return (await indexer.metrics.leader.get()).values.some(({ value }) => value === 1);
}

async function untilLeading(indexer: Indexer): Promise<void> {
  await waitUntil(async () => ((await leads(indexer)) ? null : 'it does not lead'));
}

/** Ends the server's side of every connection of an application, advisory locks with it. */
async function killConnections(stage: Stage, applicationName: string): Promise<number> {
  const killed = await stage.scratch.database.query(
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${applicationName}`,
  );
  return killed.length;
}

async function checkpointCommits(indexer: Indexer): Promise<number> {
  const { values } = await indexer.metrics.blocks.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

describe.concurrent('a second ingest of the same chain', () => {
  stagedTest('stands by without writing, and takes over when the first one ends', async ({ stage, expect }) => {
    const { chain, facts, scratch } = stage;
    const node = await stage.serve({ latencyMs: 1 });
    const first = await stage.index([node], { database: connect(stage, 'first') });
    await untilLeading(first);
    const second = await stage.index([node], { database: connect(stage, 'second') });
    await untilIndexed(scratch.database, facts, chain, { proven: true });
    // Some polls of the standby later it still does not lead.
    await systemClock.sleep(300);
    expect([await leads(first), await leads(second)]).toEqual([true, false]);
    expect(await checkpointCommits(second)).toBe(0);

    chain.mine(30);
    await first.stop();
    await untilLeading(second);
    expect(await leads(first)).toBe(false);
    chain.reorg(5, 9);
    await untilIndexed(scratch.database, facts, chain, { proven: true });
    expect(await checkpointCommits(second)).toBeGreaterThan(0);
    await expectTruth(scratch.database, facts, chain);
  });

  stagedTest('takes over in the middle of the backfill', async ({ stage, expect }) => {
    const { chain, facts, scratch } = stage;
    const node = await stage.serve({ latencyMs: 20 });
    const settings = { backfillProof: 'receipts', backfillOrder: 'oldest-first' } as const;
    const filling = Promise.withResolvers<'first' | 'second'>();
    const first = await stage.index([node], { settings, onBackfill: () => filling.resolve('first') });
    await untilLeading(first);
    const second = await stage.index([node], { settings, onBackfill: () => filling.resolve('second') });
    // The first, unless this machine stood still for so long that it lost the lead before.
    const [leader, heir] = (await filling.promise) === 'first' ? [first, second] : [second, first];
    await leader.stop();
    await untilIndexed(scratch.database, facts, chain, { proven: true });
    expect(await checkpointCommits(leader)).toBeGreaterThan(0);
    expect(await checkpointCommits(heir)).toBeGreaterThan(0);
    await expectTruth(scratch.database, facts, chain);
    await expectEqualToFreshIndex(scratch.database, facts, chain);
    // Claims of the first are gone, and those of the second used up.
    expect(await scratch.database.query(sql`SELECT * FROM sync_claims`)).toEqual([]);
  });

  stagedTest('takes over when the connections of the first are killed', async ({ stage, expect }) => {
    const { chain, facts, scratch } = stage;
    const node = await stage.serve({ latencyMs: 2 });
    // The first one waits its real second before it tries again; the other looks far more often.
    const first = await stage.index([node], { database: connect(stage, 'first'), clock: systemClock });
    await untilLeading(first);
    const second = await stage.index([node], { database: connect(stage, 'second'), clock: hastyClock });
    await waitUntil(async () => ((await checkpointCommits(first)) > 0 ? null : 'nothing is committed'));
    expect(await killConnections(stage, 'first')).toBeGreaterThan(1);
    await untilLeading(second);
    await waitUntil(async () => ((await leads(first)) ? 'the first still thinks that it leads' : null));
    chain.mine(20);
    await untilIndexed(scratch.database, facts, chain);
    await expectTruth(scratch.database, facts, chain);
    expect(await checkpointCommits(second)).toBeGreaterThan(0);
  });

  stagedTest('and the first change leadership many times: no gap and no duplicate', async ({ stage }) => {
    const { chain, facts, scratch } = stage;
    const node = await stage.serve({ latencyMs: 2 });
    const indexers = [
      await stage.index([node], { database: connect(stage, 'first') }),
      await stage.index([node], { database: connect(stage, 'second') }),
    ];
    for (let turn = 0; turn < 12; turn++) {
      chain.mine(2);
      if (turn % 4 === 3) chain.reorg(3, 5);
      await systemClock.sleep(40 + turn * 10);
      const leading = (await leads(indexers[0] as Indexer)) ? 'first' : 'second';
      await killConnections(stage, leading);
    }
    await untilIndexed(scratch.database, facts, chain, { proven: true });
    await expectTruth(scratch.database, facts, chain);
    await expectEqualToFreshIndex(scratch.database, facts, chain);
    await waitUntil(async () => {
      const leading = (await Promise.all(indexers.map(leads))).filter(Boolean).length;
      return leading === 1 ? null : `${leading} of them lead`;
    });
  });
});
