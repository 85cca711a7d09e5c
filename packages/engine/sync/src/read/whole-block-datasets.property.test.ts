import { type BlockRange, mergeRanges } from '@chainstead/core';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { readChainState } from '../checkpoint.ts';
import { listCoverage } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { follow } from '../follow/follower.ts';
import { backfillRanges, reindexRanges, verifyRanges } from '../range-jobs/range-commands.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  expectedPayments,
  outcomes,
  payments,
  storedOutcomes,
  storedPayments,
} from '../testing/whole-block-datasets.ts';

const ALL = [marks, outcomes, payments] as readonly Dataset[];
const LAST_BACKFILLED = 16;
const REORG_DEPTH_MAX = 6;
const scratch = scratchOfFile();
let nextChainId = 950_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

const someDatasets = fc.subarray([...ALL], { minLength: 1 });
const someBlocks = fc
  .tuple(fc.integer({ min: 1, max: LAST_BACKFILLED }), fc.integer({ min: 1, max: LAST_BACKFILLED }))
  .map(([a, b]): BlockRange => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const proof = fc.constantFrom('none' as const, 'receipts' as const);
const someStep = fc.oneof(
  fc.record({ kind: fc.constant('backfill' as const), range: someBlocks, datasets: someDatasets, proof }),
  fc.record({ kind: fc.constant('reindex' as const), range: someBlocks, datasets: someDatasets, proof }),
  fc.record({ kind: fc.constant('verify' as const), range: someBlocks, datasets: someDatasets, proof }),
  fc.record({ kind: fc.constant('traces' as const), are: fc.boolean() }),
  fc.record({
    kind: fc.constant('follow' as const),
    blocks: fc.integer({ min: 1, max: 4 }),
    datasets: someDatasets,
  }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: REORG_DEPTH_MAX }) }),
);
type Step = typeof someStep extends fc.Arbitrary<infer T> ? T : never;

/** Runs steps on a new chain in the database. */
async function withChain(
  work: (take: (step: Step) => Promise<void>, check: () => Promise<void>) => Promise<void>,
) {
  let hasTraces = true;
  const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, {
    blocks: LAST_BACKFILLED + REORG_DEPTH_MAX + 2,
    facts: { pollIntervalMs: 5, reorgDepthMax: REORG_DEPTH_MAX },
    firstFollowed: LAST_BACKFILLED + 1,
    answer: (method, params, own) =>
      hasTraces || !method.startsWith('debug_')
        ? own(params)
        : { error: { code: -32601, message: 'the method does not exist' } },
  });
  const { chain, scripted, database } = stage;
  const never = new AbortController().signal;

  const command = (datasets: readonly Dataset[], backfillProof: 'none' | 'receipts') =>
    ({ ...stage, datasets, proof: 'strict', backfillProof }) as const;
  const unlessUntraced = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      if (hasTraces || !(error instanceof Error && 'code' in error && error.code === 'BLOCK_PART_UNAVAILABLE'))
        throw error;
    }
  };
  const followTo = async (datasets: readonly Dataset[]): Promise<void> => {
    const span = { firstFollowed: LAST_BACKFILLED + 1, endBlock: scripted.head, onProgress: () => undefined };
    const options = { ...stage, ...span, datasets };
    await follow(
      options,
      (await readChainState(database, chain.id))?.checkpoint ?? null,
      AbortSignal.timeout(20_000),
    );
  };

  const take = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'backfill':
        return unlessUntraced(backfillRanges(command(step.datasets, step.proof), [step.range], never));
      case 'reindex':
        return unlessUntraced(reindexRanges(command(step.datasets, step.proof), [step.range], never));
      case 'verify': {
        const report = await verifyRanges(command(step.datasets, step.proof), [step.range], never);
        return expect(report.repairs).toEqual([]);
      }
      case 'traces':
        hasTraces = step.are;
        return;
      case 'follow':
        scripted.mine(step.blocks);
        return followTo(step.datasets);
      case 'reorg': {
        const top = (await readChainState(database, chain.id))?.checkpoint?.number ?? 0;
        const depth = Math.min(step.depth, scripted.head - LAST_BACKFILLED - 1);
        scripted.reorg(depth, depth + 1);
        // A branch that replaces all followed blocks is not searched for.
        if (top > 0 && scripted.head - depth - 1 >= LAST_BACKFILLED + 1) await followTo(ALL);
      }
    }
  };

  /** In its coverage, a dataset has the chain's rows; elsewhere it has none. */
  const check = async (): Promise<void> => {
    const coverage = await listCoverage(database, chain.id);
    const state = await readChainState(database, chain.id);
    const top = state?.checkpoint?.number ?? LAST_BACKFILLED;
    const expectIn = async (
      dataset: Dataset,
      stored: readonly string[],
      rowsIn: (range: BlockRange) => string[],
    ) => {
      const ranges = mergeRanges(
        coverage.filter((one) => one.dataset === dataset.name).map(({ range }) => range),
      );
      expect(ranges.every(({ to }) => to <= Math.max(top, LAST_BACKFILLED))).toBe(true);
      expect(stored).toEqual(ranges.flatMap(rowsIn).sort());
    };
    // Blocks above the follower may have been replaced by now.
    if (state?.checkpoint !== null && scripted.blockAt(top)?.hash !== state?.checkpoint.hash) return;
    await expectIn(outcomes as Dataset, await storedOutcomes(database, chain.id), (range) =>
      expectedOutcomes(scripted, range),
    );
    await expectIn(payments as Dataset, await storedPayments(database, chain.id), (range) =>
      expectedPayments(scripted, range),
    );
    expect(await misderived(database, chain.id)).toEqual([]);
  };
  try {
    await work(take, check);
  } finally {
    await stage.close();
  }
}

it(
  'whatever is backfilled, redone, verified, followed and reorganised, with traces and without: rows are those of the chain where coverage says so',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someStep, { minLength: 1, maxLength: 7 }), (steps) =>
        withChain(async (take, check) => {
          for (const step of steps) {
            await take(step);
            await check();
          }
          await take({ kind: 'traces', are: true });
          await take({
            kind: 'backfill',
            range: { from: 1, to: LAST_BACKFILLED },
            datasets: [...ALL],
            proof: 'none',
          });
          await check();
        }),
      ),
      { numRuns: atDepth(12) },
    );
  },
  atDepth(120_000),
);
