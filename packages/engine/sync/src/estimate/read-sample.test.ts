import type { BlockRange, Clock } from '@chainstead/core';
import type { BlockSource } from '@chainstead/sources';
import { openPortalSource } from '@chainstead/sources/open';
import { servePortal } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { CHUNKS_IN_FLIGHT } from '../backfill/chunk-work.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { readSample } from './read-sample.ts';

const scratch = scratchOfFile();
const RUN_BLOCKS = 10;
/** One begins after another has ended. */
const RUNS = Array.from({ length: CHUNKS_IN_FLIGHT + 1 }, (_, index) => {
  const range = { from: index * RUN_BLOCKS + 1, to: (index + 1) * RUN_BLOCKS };
  return { range, part: [range] };
});
let nextChainId = 984_001;

beforeAll(() => createMarkTables(scratch.database));

/** A source that sends nothing for some ranges, until a minute has passed at the last of them. */
async function sampleUntilLate(isSilent: (range: BlockRange) => boolean) {
  const stage = await openScriptedStage(scratch.database, nextChainId++, [marks], {
    ...{ blocks: RUNS.length * RUN_BLOCKS, finalityDepth: 0, isSigned: true },
  });
  onTestFinished(() => stage.close());
  const portal = await servePortal(stage.scripted);
  onTestFinished(() => portal.close());
  const whole = openPortalSource({ ...stage, url: portal.url });
  onTestFinished(() => whole.close());
  const passed = Promise.withResolvers<void>();
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    async sleep(ms) {
      slept.push(ms);
      await passed.promise;
    },
  };
  const silent = RUNS.filter(({ range }) => isSilent(range)).slice(0, CHUNKS_IN_FLIGHT);
  let waiting = 0;
  const source: BlockSource = {
    ...whole,
    async *readBlocks(range, options, signal) {
      if (isSilent(range)) {
        const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        waiting += 1;
        if (waiting === silent.length) passed.resolve();
        await stopped;
        signal.throwIfAborted();
      }
      yield* whole.readBlocks(range, options, signal);
    },
  };
  const options = { ...stage, clock, proof: 'receipts' } as const;
  const datasets = [marks] as readonly Dataset[];
  const sample = await readSample(options, datasets, { source, runs: RUNS }, new AbortController().signal);
  return { sample, slept };
}

test('a source that sends no block within a minute has no estimate', async () => {
  const { sample, slept } = await sampleUntilLate(() => true);
  expect(slept).toEqual([60_000]);
  expect(sample).toMatchObject({ blocks: 0, runs: [], failure: 'no block within 60 s' });
});

test('a slow source is sampled by the blocks that it sent within a minute', async () => {
  const { sample } = await sampleUntilLate(({ from }) => from > 1);
  expect(sample).toMatchObject({ blocks: RUN_BLOCKS, failed: [], failure: null });
  expect(sample.runs).toMatchObject([{ blocks: RUN_BLOCKS }]);
});
