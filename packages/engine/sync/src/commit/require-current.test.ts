import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';

const RANGE = { from: 1, to: 20 };
const scratch = scratchOfFile();

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await scratch.database.query(sql`CREATE TABLE definition AS SELECT 1 AS revision`);
});

/** Ends the backfill, which would try again. */
const refused = new AbortController();

/** Marks whose definition has a revision, as contracts do. */
const defined = {
  ...marks,
  async requireCurrent(transaction) {
    const [row] = await transaction.query<{ revision: number }>(sql`SELECT revision FROM definition`);
    if (row?.revision === 1) return;
    refused.abort(new Error('the definition has changed'));
    throw refused.signal.reason;
  },
} as Dataset;

it('refuses rows of a definition that changed while they waited for the commit lock', async () => {
  const { database } = scratch;
  const stage = await openScriptedStage(database, 983_001, [defined], { blocks: RANGE.to });
  onTestFinished(() => stage.close());
  const [locked, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = database.transaction(async (transaction) => {
    await lockChainCommits(transaction, stage.chain);
    locked.resolve();
    await changed.promise;
    await transaction.query(sql`UPDATE definition SET revision = 2`);
  });
  await locked.promise;
  const options = { ...stage, order: 'newest-first', proof: 'none', kind: 'add' } as const;
  const filled = Promise.allSettled([backfill(options, [RANGE], refused.signal)]);
  const waiting = async () => {
    const rows = await database.query(
      sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length;
  };
  await expect.poll(waiting, { timeout: 10_000 }).toBeGreaterThan(0);
  changed.resolve();
  await change;
  await filled;
  expect(refused.signal.aborted).toBe(true);
  expect((await stage.marksOf(RANGE.from, RANGE.to)).stored).toBe(0);
});
