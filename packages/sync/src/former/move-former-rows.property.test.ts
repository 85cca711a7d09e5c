import { silentLogger, systemClock } from '@chainstead/core';
import { atDepth, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROWS_AT_ONCE } from '../decoded-batch.ts';
import { registerDerivedStates } from '../derived/derived-record.ts';
import { readPartitions } from '../partitions/read-partitions.ts';
import { LAST_BACKFILLED, type MarkedChain, openMarkedChain } from '../testing/marked-chain.ts';
import { createMarkTables, misderived } from '../testing/marks-dataset.ts';
import {
  ALL_MARKS,
  countedMarks,
  createPartitionedMarkTables,
  formerCountedMarks,
  keptMarks,
  partitionedMarks,
} from '../testing/partitioned-marks.ts';
import { build, buildAll, misderivedSoFar, someBuild } from '../testing/some-builds.ts';
import { someMoment } from '../testing/some-steps.ts';
import { replacedTables } from './former-rows.ts';
import { moveFormerRows, movePages } from './move-former-rows.ts';

let scratch: ScratchDatabase;
let nextChain = 910_001;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createMarkTables(scratch.database);
  await createPartitionedMarkTables(scratch.database);
  await scratch.database.query(
    `ALTER ROLE CURRENT_USER IN DATABASE ${new URL(scratch.url).pathname.slice(1)} SET deadlock_timeout = '20ms'`,
  );
});
afterAll(() => scratch.drop());

const someAfter = fc.record({ steps: someMoment, isMoving: fc.boolean(), pieces: someBuild });
const ALL = { from: 1, to: LAST_BACKFILLED };
const THE_REST = [
  { kind: 'backfill', range: ALL, dropEvery: 0 },
  { kind: 'verify', range: ALL },
  { kind: 'follow', blocks: 1 },
] as const;

async function withChain(rowsAtOnce: number, work: (marked: MarkedChain) => Promise<void>): Promise<void> {
  const marked = await openMarkedChain(scratch.database, nextChain++, { rowsAtOnce, dataset: formerCountedMarks });
  try {
    await work(marked);
  } finally {
    await marked.close();
  }
}

/** What the mover does once, of all that lies there. */
async function moveOnce(): Promise<void> {
  for (const replaced of await replacedTables(scratch.database, [partitionedMarks]))
    await movePages(scratch.database, replaced, 0, 1_000);
}

const countFormer = async (chainId: number): Promise<number> => {
  const [row] = await scratch.database.query<{ rows: number }>(
    'SELECT count(*)::int AS rows FROM former_marks WHERE chain_id = $1',
    [chainId],
  );
  return row?.rows ?? 0;
};

describe('rows of a former table', () => {
  it(
    'are there once, and counted once, whatever is written, removed, repaired, built and moved meanwhile',
    async () => {
      const moments = fc.array(someMoment, { maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(
          moments,
          fc.array(someAfter, { minLength: 1, maxLength: 5 }),
          fc.constantFrom(3, ROWS_AT_ONCE),
          // What is derived goes on from what the earlier version has, or is built anew from the rows of both tables.
          fc.constantFrom(countedMarks(), countedMarks(2)),
          (before, after, rowsAtOnce, dataset) =>
            withChain(rowsAtOnce, async (marked) => {
              await marked.take({ kind: 'backfill', range: ALL, dropEvery: 3 });
              for (const steps of before) for (const step of steps) await marked.take(step);
              const stored = await keptMarks(scratch.database, marked.chainId);
              marked.use(dataset);
              await registerDerivedStates(scratch.database, marked.chain, [dataset]);
              expect(await keptMarks(scratch.database, marked.chainId)).toEqual(stored);
              for (const { steps, isMoving, pieces } of after) {
                const beside = [build(scratch.database, marked, dataset, pieces), ...(isMoving ? [moveOnce()] : [])];
                await Promise.all([...steps.map((step) => marked.take(step)), ...beside]);
                expect(await misderivedSoFar(scratch.database, marked, ALL_MARKS)).toEqual([]);
              }
              for (const step of THE_REST) await marked.take(step);
              expect(await keptMarks(scratch.database, marked.chainId)).toEqual(marked.truth());
              await buildAll(scratch.database, marked, dataset);
              expect(await misderived(scratch.database, marked.chainId, undefined, ALL_MARKS)).toEqual([]);
              await moveOnce();
              expect(await misderived(scratch.database, marked.chainId, undefined, ALL_MARKS)).toEqual([]);
              expect(await countFormer(marked.chainId)).toBe(0);
              expect(await keptMarks(scratch.database, marked.chainId)).toEqual(marked.truth());
            }),
        ),
        { numRuns: atDepth(20) },
      );
    },
    atDepth(300_000),
  );

  it('are counted where they are when rows beside them go', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      marked.use(countedMarks());
      for (const { from, to } of [
        { from: 1, to: 6 },
        { from: 15, to: 20 },
      ]) {
        await marked.take({ kind: 'reindex', range: { from, to }, dropEvery: 3 });
        expect(await countFormer(marked.chainId)).toBeGreaterThan(0);
        expect(await misderived(scratch.database, marked.chainId, undefined, ALL_MARKS)).toEqual([]);
      }
    });
  });

  it('move until the former table is empty, which gives its file back', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      await marked.take({ kind: 'follow', blocks: 2 });
      expect(await countFormer(marked.chainId)).toBe(marked.truth().length);
      const options = {
        database: scratch.database,
        datasets: [partitionedMarks],
        clock: systemClock,
        logger: silentLogger(),
      };
      await moveFormerRows(options, AbortSignal.timeout(30_000));
      expect(await countFormer(marked.chainId)).toBe(0);
      expect(await keptMarks(scratch.database, marked.chainId)).toEqual(marked.truth());
      const [size] = await scratch.database.query("SELECT pg_relation_size('former_marks')::int AS bytes");
      expect(size).toEqual({ bytes: 0 });
      // A dozen rows each: the span lies in several, and a reorganisation goes over their borders.
      expect((await readPartitions(scratch.database, partitionedMarks.table, marked.chain.id)).length).toBeGreaterThan(
        2,
      );
      await marked.take({ kind: 'follow', blocks: 8 });
      marked.use(countedMarks());
      await marked.take({ kind: 'reorg', depth: 6 });
      expect(await keptMarks(scratch.database, marked.chainId)).toEqual(marked.truth());
      expect(await misderived(scratch.database, marked.chainId, undefined, ALL_MARKS)).toEqual([]);
    });
  });
});
