/** A dataset that can't decode some blocks blocks neither the chain nor other datasets. `reindex` fixes it. */
import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { backfillRanges, type RangeCommandOptions, reindexRanges } from '../range-jobs/range-commands.ts';
import { readChainStatuses } from '../status/chain-status.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { prove } from '../verify/prover.ts';

const BLOCKS = 40;
const never = new AbortController().signal;
const WAIT = { timeout: 20_000, interval: 30 };
const scratch = scratchOfFile();
let nextChainId = 985_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await scratch.database.query(sql`CREATE TABLE fragile_marks (LIKE marks INCLUDING ALL)`);
});

/** The marks in another table, with a decoder that throws for the broken blocks. */
function fragile(broken: ReadonlySet<number>): Dataset {
  return {
    ...(marks as Dataset),
    name: 'fragile-marks',
    table: { ...(marks as Dataset).table, name: 'fragile_marks' },
    projections: [],
    decode: (logs, context) => {
      for (const { blockNumber } of logs)
        if (broken.has(blockNumber)) throw new RangeError(`Block ${blockNumber} is odd`);
      return (marks as Dataset).decode(logs, context);
    },
  };
}

async function openStage(broken: ReadonlySet<number>, firstFollowed?: number | null) {
  const datasets = [marks as Dataset, fragile(broken)];
  const stage = await openScriptedStage(scratch.database, nextChainId++, datasets, {
    blocks: BLOCKS,
    ...(firstFollowed !== undefined && { firstFollowed }),
  });
  onTestFinished(() => stage.close());
  return stage;
}

const commandOf = (stage: ScriptedStage): RangeCommandOptions => ({
  ...stage,
  proof: 'strict',
  backfillProof: 'none',
});
const failuresOf = async ({ chain, datasets }: ScriptedStage) =>
  (await readChainStatuses(scratch.database, datasets, [chain])).find(({ chainId }) => chainId === chain.id)
    ?.failures;
const rowsOf = async ({ chain }: ScriptedStage, table: string, block: number): Promise<number> =>
  (
    await scratch.database.query(
      sql`SELECT FROM ${rawSql(table)} WHERE chain_id = ${chain.id} AND block_number = ${block}`,
    )
  ).length;
const FRAGILE = { name: 'fragile-marks' };

test('at the head: the chain and the others go on, status and metric name it, reindex mends it', async () => {
  const broken = new Set<number>();
  const stage = await openStage(broken, null);
  stage.sync(stage.datasets);
  await stage.untilCovered(marks);
  const odd = stage.scripted.head + 2;
  broken.add(odd);
  stage.scripted.mine(3);
  await stage.untilCovered(marks);
  expect((await stage.coverageOf(FRAGILE)).ranges).toEqual([
    { from: 1, to: odd - 1 },
    { from: odd + 1, to: odd + 1 },
  ]);
  expect(await rowsOf(stage, 'fragile_marks', odd)).toBe(0);
  const failure = { dataset: 'fragile-marks', range: { from: odd, to: odd }, blocks: 1 };
  expect(await failuresOf(stage)).toEqual([
    { ...failure, message: expect.stringContaining(`Block ${odd} is odd`) },
  ]);
  const metric = () => stage.metricsText();
  const line = (blocks: number) =>
    `chainstead_sync_dataset_failed_blocks{chain="${stage.chain.key}",dataset="fragile-marks"} ${blocks}\n`;
  await vi.waitFor(async () => expect(await metric()).toContain(line(1)), WAIT);

  stage.scripted.mine(stage.chain.reorgDepthMax + 1);
  await stage.untilCovered(marks);
  const range = { from: odd, to: odd };
  await expect(reindexRanges(commandOf(stage), [range], never)).rejects.toMatchObject({
    code: 'DATASET_FAILED',
    facts: { dataset: 'fragile-marks', block: odd },
  });
  broken.clear();
  await reindexRanges(commandOf(stage), [range], never);
  await stage.untilCovered(FRAGILE);
  expect(await failuresOf(stage)).toEqual([]);
  await vi.waitFor(async () => expect(await metric()).toContain(line(0)), WAIT);
  expect(await rowsOf(stage, 'fragile_marks', odd)).toBe(await rowsOf(stage, 'marks', odd));
});

test('in a backfill: blocks that it can decode are covered, the command tells of the first that it can not', async () => {
  const broken = new Set<number>();
  const stage = await openStage(broken);
  const blocks = stage.scripted
    .expectedTransfers({ from: 2, to: BLOCKS - 1 })
    .map(({ blockNumber }) => blockNumber);
  const [first = 0, last = 0] = [blocks[0], blocks.at(-1)];
  for (const block of [first, last]) broken.add(block);
  await expect(backfillRanges(commandOf(stage), [{ from: 1, to: BLOCKS }], never)).rejects.toMatchObject({
    code: 'DATASET_FAILED',
  });
  expect((await stage.coverageOf(marks)).ranges).toEqual([{ from: 1, to: BLOCKS }]);
  expect((await stage.coverageOf(FRAGILE)).ranges).toEqual([
    { from: 1, to: first - 1 },
    { from: first + 1, to: last - 1 },
    { from: last + 1, to: BLOCKS },
  ]);
  expect(await failuresOf(stage)).toMatchObject([{ range: { from: first, to: last }, blocks: 2 }]);
  broken.clear();
  await backfillRanges(commandOf(stage), [{ from: 1, to: BLOCKS }], never);
  expect((await stage.coverageOf(FRAGILE)).ranges).toEqual([{ from: 1, to: BLOCKS }]);
  expect(await failuresOf(stage)).toEqual([]);
});

test('in the prover: rows of blocks that it can decode no more stay, and are not covered', async () => {
  const broken = new Set<number>();
  const stage = await openStage(broken);
  await backfill(
    { ...stage, order: 'newest-first', proof: 'none', kind: 'add' },
    [{ from: 1, to: BLOCKS }],
    never,
  );
  const odd = 20;
  const before = await rowsOf(stage, 'fragile_marks', odd);
  expect(before).toBeGreaterThan(0);
  broken.add(odd);
  const options = { rate: 10_000, idleMs: 1, isBehind: () => false, isFilling: () => false };
  await prove({ ...stage, ...options, onRate: () => undefined, finished: () => true }, never);
  expect(await stage.coverageOf(marks)).toEqual({ ranges: [{ from: 1, to: BLOCKS }], levels: ['receipts'] });
  expect(await stage.coverageOf(FRAGILE)).toEqual({
    ranges: [
      { from: 1, to: odd - 1 },
      { from: odd + 1, to: BLOCKS },
    ],
    levels: ['receipts'],
  });
  expect(await rowsOf(stage, 'fragile_marks', odd)).toBe(before);
});
