import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { bigint, integer, pgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { defineSums } from '../projections/define-sums.ts';
import { backfillRanges, verifyRanges } from '../range-jobs/range-commands.ts';
import { readChainStatuses } from '../status/chain-status.ts';
import { createMarkTables, marks, marksTable, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';

const CHAIN_ID = 910_001;
const REORG_DEPTH_MAX = 8;
/** The same marks without projections, in their own table. */
const { projections: _, ...plain } = marks;
const early: Dataset = {
  ...plain,
  name: 'early-marks',
  table: { ...plain.table, name: 'early_marks' },
} as Dataset;
const elsewhere: Dataset = {
  ...plain,
  name: 'elsewhere',
  table: { ...plain.table, name: 'no_such_table' },
  topics: () => [],
} as Dataset;

/** The same marks with a projection. */
const counted: Dataset = {
  ...early,
  projections: [
    defineSums({
      name: 'early-count',
      version: 1,
      source: marksTable,
      table: pgTable('early_count', { chainId: bigint('chain_id', { mode: 'number' }), marks: integer('marks') }),
      key: ['chainId'],
      sums: { marks: () => rawSql('1') },
    }),
  ],
};

const scratch = scratchOfFile();
let stage: ScriptedStage;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await scratch.database.query(sql`CREATE TABLE early_marks (LIKE marks INCLUDING ALL)`);
  await scratch.database.query(
    sql`CREATE TABLE early_count (chain_id bigint PRIMARY KEY, marks bigint NOT NULL)`,
  );
  stage = await openScriptedStage(scratch.database, CHAIN_ID, [], {
    blocks: 40,
    facts: { pollIntervalMs: 10, reorgDepthMax: REORG_DEPTH_MAX },
    firstFollowed: null,
    speed: 20,
  });
});
afterAll(async () => {
  await stage.close();
});

describe('datasets of a chain', () => {
  it('come to cover all that is followed when they are added later, and are no repairs', async () => {
    const first = stage.sync([early]);
    await stage.untilCovered(early);
    stage.scripted.mine(15);
    await stage.untilCovered(early);
    await first.stop();

    onTestFinished(stage.sync([early, marks as Dataset]).stop);
    await stage.untilCovered(marks);
    stage.scripted.mine(REORG_DEPTH_MAX);
    await stage.untilCovered(marks);
    const rows = await scratch.database.query(
      sql`SELECT (SELECT count(*)::int FROM marks) AS marks, (SELECT count(*)::int FROM early_marks) AS early`,
    );
    const expected = stage.scripted.expectedTransfers({ from: 1, to: stage.scripted.head }).length;
    expect(rows).toEqual([{ marks: expected, early: expected }]);
    expect(await misderived(scratch.database, CHAIN_ID)).toEqual([]);
    expect(await scratch.database.query(sql`SELECT * FROM upstream_errors`)).toEqual([]);
  });

  it('come to have what is derived from them when that is added later, and status and metrics say so', async () => {
    const stored = sql`SELECT count(*) AS marks FROM early_marks`;
    const untilCounted = async (block: number) => {
      await stage.untilCovered(counted, block);
      await vi.waitFor(
        async () =>
          expect(await scratch.database.query(sql`SELECT marks FROM early_count`)).toEqual(
            await scratch.database.query(stored),
          ),
        { timeout: 20_000, interval: 30 },
      );
    };
    const [rows] = await scratch.database.query<{ marks: number }>(stored);
    expect(rows?.marks).toBeGreaterThan(0);
    const session = stage.sync([counted]);
    await untilCounted(stage.scripted.head);
    stage.scripted.mine(3);
    await untilCounted(stage.scripted.head);
    const [status] = await readChainStatuses(scratch.database, [counted], [stage.chain]);
    expect(status?.building).toEqual([]);
    await vi.waitFor(async () =>
      expect(await stage.metricsText()).toContain(
        'chainstead_sync_projection_built_ratio{chain="stage-910001",state="early-count"} 1',
      ),
    );
    await session.stop();
  });

  it('are those that decode something there: of others there is neither coverage nor a gap', async () => {
    const options = { ...stage, datasets: [early, elsewhere], proof: 'strict', backfillProof: 'none' } as const;
    const never = new AbortController().signal;
    await backfillRanges(options, [{ from: 1, to: 20 }], never);
    const session = stage.sync([early, elsewhere]);
    stage.scripted.mine(1);
    await stage.untilCovered(early);
    await session.stop();
    expect((await stage.coverageOf(elsewhere)).ranges).toEqual([]);
    const [status] = await readChainStatuses(scratch.database, [early, elsewhere], [stage.chain]);
    expect(status?.gaps).toEqual([]);
    expect((await verifyRanges(options, [{ from: 1, to: 20 }], never)).uncovered).toEqual([]);
  });
});
