import { type BlockRange, silentLogger } from '@chainstead/core';
import { type Database, sql, tryAcquireLeadership, withPatientSession } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import type { BackfillOptions } from '../backfill/backfill-options.ts';
import { recordCoverage } from '../coverage/coverage.ts';
import type { RetentionSettings } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { announceAgain, ensurePartitions } from '../partitions/ensure-partitions.ts';
import { readPartitions } from '../partitions/read-partitions.ts';
import { reindexRanges, verifyRanges } from '../range-jobs/range-commands.ts';
import { readChainStatuses } from '../status/chain-status.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { createPartitionedMarkTable, partitionedMarks, storedMarks } from '../testing/partitioned-marks.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { detachPartition, uncover } from './delete-old-rows.ts';
import { dropOldPartitions, finishDropping } from './enforce-retention.ts';
import { sealFullPartitions } from './seal-partitions.ts';

const BLOCKS = 300;
const RANGE = { from: 1, to: BLOCKS };
/** With a reorg depth of 64, partitions that end at or below 137 are dropped. */
const RETENTION: RetentionSettings = { blocks: 100, since: null };
const RETAINED_FROM = 201;
const dropped: Dataset = { ...partitionedMarks, table: { ...partitionedMarks.table, rowsPerPartition: 60 } };
const whole = { ...marks, name: 'whole-marks' } as Dataset;
const PATIENCE = { tables: dropped.table.name, giveUpAfterMs: 0 };
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 970_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createPartitionedMarkTable(scratch.database);
});

type Stage = ScriptedStage & Pick<BackfillOptions, 'order' | 'proof' | 'kind'>;

/** Opens a chain with all rows of both datasets. */
async function openFilled(): Promise<Stage> {
  const datasets = [dropped, whole];
  const stage = await openScriptedStage(scratch.database, nextChainId++, datasets, {
    blocks: BLOCKS,
    firstFollowed: BLOCKS + 1,
    upstreams: 2,
  });
  onTestFinished(() => stage.close());
  const filled = { ...stage, order: 'newest-first', proof: 'none', kind: 'add' } as const;
  await backfill(filled, [RANGE], never);
  return filled;
}

const lowestOf = async ({ chain }: Stage): Promise<number> =>
  (await readPartitions(scratch.database, dropped.table, chain.id))[0]?.from ?? Number.NaN;

const truthFrom = (stage: Stage, from: number): string[] => truthOf(stage, { from, to: BLOCKS });

const truthOf = ({ scripted }: Stage, range: BlockRange): string[] =>
  scripted
    .expectedTransfers(range)
    .map((row) => `${row.to} ${row.blockNumber} ${row.logIndex} ${row.value} ${row.blockHash}`)
    .sort();

const tablesOf = ({ chain }: Stage) =>
  scratch.database.query<{ name: string }>(
    sql`SELECT relname AS name FROM pg_class WHERE relname LIKE ${`partitioned\\_marks\\_${chain.id}\\_%`}`,
  );

/**
 * Rows, coverage and partitions of the dropped dataset start at the same block; the other dataset is complete, and
 * there are no gaps.
 */
async function expectDropped(stage: Stage): Promise<void> {
  const { chain, database } = stage;
  const lowest = await lowestOf(stage);
  expect(lowest).toBeGreaterThan(1);
  expect(lowest).toBeLessThanOrEqual(RETAINED_FROM - chain.reorgDepthMax);
  expect((await stage.coverageOf(dropped)).ranges).toEqual([{ from: lowest, to: BLOCKS }]);
  expect((await stage.coverageOf(whole)).ranges).toEqual([RANGE]);
  expect(await storedMarks(database, chain.id)).toEqual(truthFrom(stage, lowest));
  expect(await stage.marksOf(RANGE.from, RANGE.to)).toMatchObject({ stored: truthFrom(stage, 1).length });
  expect(await misderived(database, chain.id)).toEqual([]);
  const partitions = await readPartitions(database, dropped.table, chain.id);
  expect(
    (await tablesOf(stage))
      .map(({ name }) => name)
      .filter((name) => !name.endsWith('pkey'))
      .sort(),
  ).toEqual(partitions.map(({ name }) => name).sort());
  const status = async (retention: RetentionSettings | undefined) =>
    (await readChainStatuses(database, [dropped, whole], [chain], () => retention)).find(
      ({ chainId }) => chainId === chain.id,
    );
  expect(await status(RETENTION)).toMatchObject({ gaps: [], retainedFrom: RETAINED_FROM });
  expect(await status(undefined)).toMatchObject({
    gaps: [{ dataset: 'marks', range: { from: 1, to: lowest - 1 } }],
    retainedFrom: 0,
  });
}

describe('retention', () => {
  // Invariant: SYNC-RETENTION-COVERAGE
  it('drops whole partitions of old blocks with their coverage, and counts and tells what it drops', async () => {
    const stage = await openFilled();
    const before = await readPartitions(scratch.database, dropped.table, stage.chain.id);
    await scratch.database.query(sql`ANALYZE partitioned_marks`);
    const said: Record<string, unknown>[] = [];
    const logger = { ...silentLogger(), info: (facts: Record<string, unknown>) => said.push(facts) };
    const names = await dropOldPartitions(
      { ...stage, logger: Object.assign(silentLogger(), logger), retention: RETENTION },
      never,
    );
    const old = before.filter(({ to }) => to <= RETAINED_FROM - stage.chain.reorgDepthMax);
    expect(old.length).toBeGreaterThan(2);
    expect(names).toEqual(old.map(({ name }) => name));
    await expectDropped(stage);
    expect(said.map(({ partition }) => partition)).toEqual(names);
    expect(said[0]).toMatchObject({
      block_range: `${old[0]?.from}-${(old[0]?.to ?? 0) - 1}`,
      bytes: expect.any(Number),
    });
    const rows = truthFrom(stage, 1).length - truthFrom(stage, await lowestOf(stage)).length;
    const counted = (await stage.metrics.droppedRows.get()).values.find(
      ({ labels }) => labels.dataset === 'marks',
    );
    expect(counted?.value).toBe(rows);
    expect(await dropOldPartitions({ ...stage, retention: RETENTION }, never)).toEqual([]);
  });

  it('keeps everything unless it is told otherwise, and what either setting wants', async () => {
    const stage = await openFilled();
    expect(await dropOldPartitions(stage, never)).toEqual([]);
    expect(await dropOldPartitions({ ...stage, retention: { blocks: null, since: null } }, never)).toEqual([]);
    const early = new Date(Number(stage.scripted.blockAt(3)?.header.timestamp) * 1_000);
    expect(await dropOldPartitions({ ...stage, retention: { blocks: 100, since: early } }, never)).toEqual([]);
    expect((await stage.coverageOf(dropped)).ranges).toEqual([RANGE]);
  });

  it('has nothing that was dropped filled, proven or redone, until it is wanted again', async () => {
    const stage = await openFilled();
    await dropOldPartitions({ ...stage, retention: RETENTION }, never);
    const lowest = await lowestOf(stage);
    expect(await backfill({ ...stage, retention: RETENTION }, [RANGE], never)).toMatchObject({ total: 0 });
    const command = { ...stage, proof: 'strict', backfillProof: 'none', retention: RETENTION } as const;
    // The blocks are still read for the other dataset.
    expect(await verifyRanges(command, [RANGE], never)).toMatchObject({ repairs: [], uncovered: [] });
    expect((await stage.coverageOf(whole)).levels).toEqual(['receipts']);
    await expectDropped(stage);
    const alone = await verifyRanges({ ...command, datasets: [dropped] }, [RANGE], never);
    expect(alone.uncovered).toEqual([{ from: 1, to: lowest - 1 }]);
    await reindexRanges(command, [{ from: 1, to: 20 }], never);
    await expectDropped(stage);
    await backfill(stage, [RANGE], never);
    expect((await stage.coverageOf(dropped)).ranges).toEqual([RANGE]);
    expect(await storedMarks(scratch.database, stage.chain.id)).toEqual(truthFrom(stage, 1));
  });

  it('goes on where a process ended between two steps, also when what was dropped is wanted by then', async () => {
    const stage = await openFilled();
    const { chain, database } = stage;
    const [first, second] = await readPartitions(database, dropped.table, chain.id);
    if (first === undefined || second === undefined) throw new Error('No partitions');
    await uncover(database, chain.id, dropped, { from: 0, to: first.to - 1 });
    // The reader outlasts the detachment's lock timeout.
    await database.transaction(async (reader) => {
      await reader.query(sql`SELECT count(*) FROM partitioned_marks`);
      const detaching = withPatientSession(database, PATIENCE, async (run) => {
        await run(sql`SET lock_timeout = '100ms'`);
        await detachPartition(database, run, dropped, first.name);
      });
      await expect(detaching).rejects.toMatchObject({ code: 'TABLES_HELD' });
    });
    // Coverage written by another process before the partition was detached.
    const rewritten = {
      range: { from: first.to - 3, to: first.to - 1 },
      proof: 'none',
      reason: null,
      upstream: null,
    } as const;
    await database.transaction((transaction) => recordCoverage(transaction, chain.id, ['marks'], rewritten));
    expect(await finishDropping(stage, never)).toBe(true);
    expect((await stage.coverageOf(dropped)).ranges).toEqual([{ from: first.to, to: BLOCKS }]);
    expect((await tablesOf(stage)).map(({ name }) => name)).not.toContain(first.name);

    // Detached but not dropped; its blocks are covered again.
    await withPatientSession(database, PATIENCE, (run) => detachPartition(database, run, dropped, second.name));
    expect(await finishDropping(stage, never)).toBe(true);
    expect((await tablesOf(stage)).map(({ name }) => name)).not.toContain(second.name);
    const covered = (await stage.coverageOf(dropped)).ranges;
    expect(covered.at(-1)?.to).toBe(BLOCKS);
    expect(await storedMarks(database, chain.id)).toEqual(
      covered.flatMap((range) => truthOf(stage, range)).sort(),
    );
    expect(await storedMarks(database, chain.id)).toEqual(truthFrom(stage, second.to));
    await dropOldPartitions({ ...stage, retention: RETENTION }, never);
    await expectDropped(stage);
    await backfill(stage, [RANGE], never);
    expect((await stage.coverageOf(dropped)).ranges).toEqual([RANGE]);
    expect(await storedMarks(database, chain.id)).toEqual(truthFrom(stage, 1));
  });

  it('waits for a reader that is at it, and stands in nobody else’s way', async () => {
    const stage = await openFilled();
    const { chain, database } = stage;
    const count = sql`SELECT count(*)::int AS rows FROM partitioned_marks WHERE chain_id = ${chain.id}`;
    const all = truthFrom(stage, 1).length;
    let isDone = false;
    let round: Promise<unknown> = Promise.resolve();
    await database.transaction(async (reader) => {
      await reader.query(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`);
      expect(await reader.query(count)).toEqual([{ rows: all }]);
      // The reader ends when the test is done, so the wait is unlimited.
      round = dropOldPartitions({ ...stage, retention: RETENTION, lockWaitMs: 0 }, never).finally(() => {
        isDone = true;
      });
      await expect
        .poll(async () => (await database.query(sql`SELECT FROM pg_inherits WHERE inhdetachpending`)).length)
        .toBe(1);
      // Meanwhile, others read, write and create partitions.
      const [now] = await database.query<{ rows: number }>(count);
      expect(now?.rows).toBeLessThan(all);
      const density = { rows: 1, blocks: 1 };
      await ensurePartitions(
        database,
        chain.id,
        [{ from: 9_000, to: 9_001 }],
        [{ table: dropped.table, density }],
      );
      await database.query(sql`INSERT INTO partitioned_marks VALUES ('\\x01', ${chain.id}, 9000, 1, 1)`);
      await database.query(
        sql`DELETE FROM partitioned_marks WHERE chain_id = ${chain.id} AND block_number = 9000`,
      );
      expect(isDone).toBe(false);
      expect(await reader.query(count)).toEqual([{ rows: all }]);
    });
    await round;
    const lowest = await lowestOf(stage);
    expect(lowest).toBeGreaterThan(1);
    expect(await storedMarks(database, chain.id)).toEqual(truthFrom(stage, lowest));
  });

  it('goes on if a partition that it found is dropped before it is at its table', async () => {
    const stage = await openFilled();
    // The second time, all partitions that were found first are gone.
    const datasets = [dropped, { ...dropped }];
    const names = await dropOldPartitions({ ...stage, datasets, retention: RETENTION }, never);
    expect(new Set(names).size).toBe(names.length);
    await expectDropped(stage);
  });

  it('waits for another process that drops some', async () => {
    const stage = await openFilled();
    const { database } = stage;
    const { leadership } = await tryAcquireLeadership(database, 'drop-partitions:partitioned_marks');
    expect(await dropOldPartitions({ ...stage, retention: RETENTION }, never)).toEqual([]);
    expect((await stage.coverageOf(dropped)).ranges).toEqual([RANGE]);
    await leadership?.release();
    await dropOldPartitions({ ...stage, retention: RETENTION }, never);
    await expectDropped(stage);
  });

  it('asks the catalog as often for a hundred tables as for one', async () => {
    const stage = await openFilled();
    const asked = async (tables: number): Promise<number> => {
      let statements = 0;
      const database: Database = {
        ...stage.database,
        query: (statement) => {
          statements += 1;
          return stage.database.query(statement);
        },
      };
      const datasets = Array.from({ length: tables }, (_, index) => ({
        ...dropped,
        table: { ...dropped.table, name: `empty_marks_${index}` },
      }));
      const options = { ...stage, database, datasets, retention: RETENTION };
      await announceAgain(
        database,
        datasets.map(({ table }) => table),
      );
      expect(await finishDropping(options, never)).toBe(true);
      await dropOldPartitions(options, never);
      await sealFullPartitions(options, never);
      return statements;
    };
    expect(await asked(100)).toBe(await asked(1));
  });
});
