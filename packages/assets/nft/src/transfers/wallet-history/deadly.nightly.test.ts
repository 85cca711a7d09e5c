import { fileURLToPath } from 'node:url';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createWorkJournal, readSetAsideWork, sql } from '@chainstead/db';
import { readHistories } from '@chainstead/sync/requests';
import { countDeaths, createScratchDatabase } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openHistoryStage } from './testing/history-stage.ts';
import type { WorkerProcessOptions } from './testing/worker-process.ts';

const PROGRAM = fileURLToPath(new URL('./testing/worker-process.ts', import.meta.url));
const DEADLY_BLOCK = 900;

test('a history that ends the process is set aside after the third time and told of; others are read', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const { database } = scratch;
  const stage = await openHistoryStage(database, {
    chainId: 951_001,
    blocks: 2_010,
    firstFollowed: 2_000,
    logRangeMax: 100,
  });
  onTestFinished(() => stage.close());
  const wallets = stage.wallets.slice(0, 3).map((wallet) => stage.subject('wallet', wallet));
  const [, deadly] = wallets;
  if (deadly === undefined) throw new Error('The chain has no second wallet');
  for (const wallet of wallets) await stage.request(wallet);
  const options: WorkerProcessOptions = {
    databaseUrl: scratch.url,
    chainId: stage.chain.id,
    nodeUrl: stage.node.url,
    logRangeMax: 100,
    deadly: { block: DEADLY_BLOCK, wallet: deadly.address },
  };
  const isSettled = async (): Promise<boolean> => {
    const { counts } = await readHistories(database, 10);
    return counts.every(({ status }) => status === 'done' || status === 'refused');
  };

  const deaths = await countDeaths({
    args: [PROGRAM, JSON.stringify(options)],
    isSettled,
    // As if the dead worker's leases had expired.
    onDeath: () =>
      database.query(sql`UPDATE backfill_requests SET lease_until = now() WHERE lease_until IS NOT NULL`),
  });

  expect(deaths).toBe(3);
  const { unfinished, counts } = await readHistories(database, 10);
  expect(counts.map(({ status, count }) => [status, count])).toEqual([
    ['done', 2],
    ['refused', 1],
  ]);
  const error = {
    code: 'WORK_SET_ASIDE',
    message: expect.stringContaining('Work quarantined: the process ended 3 times'),
  };
  expect(unfinished).toMatchObject([{ subject: deadly, dueAt: null, error }]);
  const name = `history ${stage.chain.id} wallet ${deadly.address}`;
  expect(await readSetAsideWork(database, 10)).toMatchObject([{ name, crashes: 3 }]);
  // Rows above the block were stored, and no request restarts it immediately.
  const [range] = await database.query<{ first: number }>(
    sql`SELECT min(first_block) AS first FROM subject_ranges WHERE subject = ${Buffer.from(deadly.address.slice(2), 'hex')}`,
  );
  expect(range?.first).toBeGreaterThan(DEADLY_BLOCK);
  expect(await stage.request(deadly)).toBe('known');

  // A request after an hour tries it once more; it is refused before a node is called.
  await database.query(
    sql`UPDATE backfill_requests SET updated_at = now() - interval '2 hours' WHERE status = 'refused'`,
  );
  expect(await stage.request(deadly)).toBe('requested');
  const metrics = createMetricsRegistry();
  const journal = createWorkJournal({ database, logger: silentLogger(), metrics });
  stage.node.counters.reset();
  expect(await stage.read(deadly, { journal })).toBe('refused');
  expect(stage.node.counters.snapshot().calls.eth_getLogs ?? 0).toBe(0);
  expect(await metrics.metrics()).toContain('chainstead_work_set_aside_total{kind="history"} 1');
  // An operator has fixed the program.
  await database.query(sql`DELETE FROM quarantined_work`);
  await database.query(
    sql`UPDATE backfill_requests SET updated_at = now() - interval '2 hours' WHERE status = 'refused'`,
  );
  expect(await stage.request(deadly)).toBe('requested');
  expect(await stage.read(deadly, { journal })).toBe('done');
}, 180_000);
