/** Concurrent backfills of the same ranges, some of which end early: each block is written once in any interleaving. */

import { createMetricsRegistry } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { createClaimOwner } from '../coverage/claims.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import { createSyncMetrics } from '../sync-metrics.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  outcomes,
  storedOutcomes,
} from '../testing/whole-block-datasets.ts';
import { backfill } from './backfill.ts';
import type { BackfillProgress } from './backfill-options.ts';
import { helpBackfill, readHelpable } from './fill-history.ts';

const ALL = [outcomes, marks] as readonly Dataset[];
const BLOCKS = 240;
const RANGE = { from: 1, to: BLOCKS };
const RUNS = 5;
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 965_001;

/** One of the concurrent processes. */
interface Worker {
  readonly order: 'newest-first' | 'oldest-first';
  readonly proof: 'none' | 'receipts';
  /** Stops after this many progress reports; null: when no work is left. */
  readonly endsAfter: number | null;
}

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

/** @returns its end state and the blocks it committed */
async function work(stage: ScriptedStage, { order, proof, endsAfter }: Worker) {
  const metrics = createSyncMetrics(createMetricsRegistry());
  const owner = await createClaimOwner(scratch.database);
  const ending = new AbortController();
  let reported = 0;
  const onProgress = (): void => {
    reported += 1;
    if (reported === endsAfter) ending.abort(new Error('It ends early'));
  };
  const options = { ...stage, owner, metrics, order, proof, onProgress, knownContracts: createKnownContracts() };
  let progress: BackfillProgress | null = null;
  try {
    progress = await backfill({ ...options, kind: 'add' }, [RANGE], ending.signal);
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    await owner.close();
  }
  const { values } = await metrics.blocks.get();
  return { progress, blocks: values.reduce((sum, { value }) => sum + value, 0) };
}

async function expectTruth(stage: ScriptedStage): Promise<void> {
  const { chain, scripted, database } = stage;
  const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
  expect(stored).toBe(expected);
  expect(await storedOutcomes(database, chain.id)).toEqual(expectedOutcomes(scripted, RANGE));
  expect(await misderived(database, chain.id)).toEqual([]);
  for (const dataset of ALL) expect((await stage.coverageOf(dataset)).ranges).toEqual([RANGE]);
  expect(await database.query(sql`SELECT * FROM sync_claims WHERE chain_id = ${chain.id}`)).toEqual([]);
}

// Invariant: SYNC-NO-DUPLICATE
it('leave no block out and write none twice, whichever of them end early', async () => {
  const proof = fc.constantFrom<Worker['proof']>('none', 'receipts');
  const order = fc.constantFrom<Worker['order']>('newest-first', 'oldest-first');
  const some = fc.array(fc.record({ order, proof, endsAfter: fc.option(fc.integer({ min: 1, max: 25 })) }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(some, proof, async (workers, lastProof) => {
      const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, { blocks: BLOCKS });
      try {
        const last: Worker = { order: 'newest-first', proof: lastProof, endsAfter: null };
        const ends = await Promise.all([...workers, last].map((worker) => work(stage, worker)));
        await expectTruth(stage);
        // A block is read once for logs and once for transactions, or once for both, and is counted per read.
        const times = new Set([...workers, last].map((worker) => (worker.proof === 'none' ? 2 : 1)));
        const blocks = ends.reduce((sum, end) => sum + end.blocks, 0);
        expect(blocks).toBeGreaterThanOrEqual(Math.min(...times) * BLOCKS);
        expect(blocks).toBeLessThanOrEqual(Math.max(...times) * BLOCKS);
        for (const { progress } of ends) if (progress !== null) expect(progress.done).toBe(progress.total);
      } finally {
        await stage.close();
      }
    }),
    { numRuns: atDepth(RUNS) },
  );
});

it('share the work of one that began', async () => {
  const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, {
    blocks: BLOCKS,
    faults: { latencyMs: 20 },
  });
  try {
    const metrics = createSyncMetrics(createMetricsRegistry());
    const helper = { ...stage, order: 'newest-first', proof: 'none' } as const;
    expect(await readHelpable(helper, null)).toEqual([RANGE]);
    // 49 blocks of both datasets are fewer than the minimum of 100.
    expect(await readHelpable(helper, 49)).toEqual([]);
    const [own] = await Promise.all([
      work(stage, { order: 'newest-first', proof: 'none', endsAfter: null }),
      helpBackfill({ ...helper, metrics }, [RANGE], never),
    ]);
    const helped = (await metrics.blocks.get()).values.reduce((sum, { value }) => sum + value, 0);
    expect(helped).toBeGreaterThan(0);
    expect(own.blocks).toBeGreaterThan(0);
    expect(own.blocks + helped).toBe(2 * BLOCKS);
    expect(own.progress).toMatchObject({ done: 2 * BLOCKS, total: 2 * BLOCKS });
    expect(await readHelpable(helper, null)).toEqual([]);
    await expectTruth(stage);
  } finally {
    await stage.close();
  }
});
