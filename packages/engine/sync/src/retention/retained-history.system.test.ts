import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RetentionSettings } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { readChainStatuses } from '../status/chain-status.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { createPartitionedMarkTable, partitionedMarks, storedMarks } from '../testing/partitioned-marks.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';

const REORG_DEPTH_MAX = 8;
const dropped: Dataset = { ...partitionedMarks, table: { ...partitionedMarks.table, rowsPerPartition: 40 } };
const whole = { ...marks, name: 'whole-marks' } as Dataset;
const datasets = [dropped, whole];
const scratch = scratchOfFile();
let nextChainId = 980_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createPartitionedMarkTable(scratch.database);
});

async function openStage(blocks: number): Promise<ScriptedStage> {
  const stage = await openScriptedStage(scratch.database, nextChainId++, datasets, {
    blocks,
    facts: { pollIntervalMs: 10, reorgDepthMax: REORG_DEPTH_MAX },
    finalityDepth: null,
    firstFollowed: null,
    // Checks for old partitions every 0.3 s.
    speed: 200,
  });
  onTestFinished(() => stage.close());
  return stage;
}

async function statusOf({ chain }: ScriptedStage, retention: RetentionSettings) {
  const statuses = await readChainStatuses(scratch.database, datasets, [chain], () => retention);
  return statuses.find(({ chainId }) => chainId === chain.id);
}

/**
 * Waits until everything up to the head is indexed, and the partial dataset starts between these blocks. Its rows must
 * match its coverage.
 */
async function untilKept(
  stage: ScriptedStage,
  from: { readonly min: number; readonly max: number },
): Promise<number> {
  const { chain, scripted } = stage;
  const to = scripted.head;
  let lowest = Number.NaN;
  await vi.waitFor(
    async () => {
      expect((await stage.coverageOf(whole)).ranges).toEqual([{ from: 1, to }]);
      const { ranges } = await stage.coverageOf(dropped);
      expect(ranges).toEqual([{ from: expect.any(Number), to }]);
      lowest = ranges[0]?.from ?? Number.NaN;
      expect(lowest).toBeGreaterThanOrEqual(from.min);
      expect(lowest).toBeLessThanOrEqual(from.max);
      const truth = scripted
        .expectedTransfers({ from: lowest, to })
        .map((row) => `${row.to} ${row.blockNumber} ${row.logIndex} ${row.value} ${row.blockHash}`);
      expect(await storedMarks(scratch.database, chain.id)).toEqual(truth.sort());
    },
    { timeout: 25_000, interval: 50 },
  );
  return lowest;
}

const timeOf = ({ scripted }: ScriptedStage, block: number): Date =>
  new Date(Number(scripted.blockAt(block)?.header.timestamp) * 1_000);

describe('a chain that retains its newest blocks', () => {
  it('is filled from the bound only, drops what falls below as it goes on, through reorganisations, and has no gap', async () => {
    const stage = await openStage(120);
    const retention = { blocks: 60, since: null };
    const session = stage.sync(datasets, retention);
    // The first followed block is the head at the first start minus the reorg depth.
    await untilKept(stage, { min: 120 - REORG_DEPTH_MAX - 60, max: 61 });
    let lowest = 0;
    for (let round = 0; round < 6; round++) {
      stage.scripted.mine(18);
      await vi.waitFor(async () => expect((await statusOf(stage, retention))?.lag).toBeLessThan(6));
      stage.scripted.reorg(1 + round, 2 + round);
      const bound = stage.scripted.head + 1 - 60;
      const at = await untilKept(stage, { min: lowest, max: bound });
      expect(at).toBeGreaterThanOrEqual(lowest);
      lowest = at;
      expect(await statusOf(stage, retention)).toMatchObject({ gaps: [], retainedFrom: bound });
    }
    // Partitions span a few blocks: rows retained too long are from less than two partitions plus the reorg depth.
    await untilKept(stage, { min: 140, max: stage.scripted.head + 1 - 60 });
    await session.stop();

    const all = stage.sync(datasets);
    await untilKept(stage, { min: 1, max: 1 });
    await all.stop();
  }, 60_000);

  it('finds the first block of the retention window by its time', async () => {
    const stage = await openStage(400);
    const retention = { blocks: null, since: timeOf(stage, 250) };
    const session = stage.sync(datasets, retention);
    await untilKept(stage, { min: 250, max: 250 });
    expect(await statusOf(stage, retention)).toMatchObject({ gaps: [], retainedFrom: 250 });
    stage.scripted.mine(30);
    await untilKept(stage, { min: 250, max: 250 });
    await session.stop();

    // One second later, the next block is the first.
    const later = { blocks: null, since: new Date(retention.since.getTime() + 1_000) };
    const next = stage.sync(datasets, later);
    await vi.waitFor(async () =>
      expect(await statusOf(stage, later)).toMatchObject({ retainedFrom: 251, gaps: [] }),
    );
    await untilKept(stage, { min: 250, max: 251 });
    await next.stop();

    // With both settings, the wider one applies.
    const widened = stage.sync(datasets, { blocks: 300, since: retention.since });
    await untilKept(stage, { min: 131, max: 131 });
    await widened.stop();
    const narrower = { blocks: 300, since: timeOf(stage, 40) };
    stage.sync(datasets, narrower);
    await untilKept(stage, { min: 40, max: 40 });
    expect(await statusOf(stage, narrower)).toMatchObject({ gaps: [], retainedFrom: 40 });
  }, 60_000);
});
