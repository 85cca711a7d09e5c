/** Missing blocks on a node that allows few calls: each is read once, and the prover waits for them. */
import { toQuantity } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage, type ScriptedStageOptions } from '../testing/scripted-stage.ts';
import { createWholeBlockTables, outcomes, payments } from '../testing/whole-block-datasets.ts';

const BLOCKS = 150;
const REORG_DEPTH_MAX = 10;
/** The follower reads the others. */
const MISSING = BLOCKS - REORG_DEPTH_MAX - 1;
const scratch = scratchOfFile();
let nextChainId = 978_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

/** Opens a chain without rows, and counts the calls that its node has answered per block. */
async function openUnfilled(datasets: readonly Dataset[], options: Partial<ScriptedStageOptions> = {}) {
  const calls: { readonly method: string; readonly at: unknown }[] = [];
  const { answer = (_method, params, own) => own(params) } = options;
  const stage = await openScriptedStage(scratch.database, nextChainId++, datasets, {
    ...{ blocks: BLOCKS, firstFollowed: null, facts: { reorgDepthMax: REORG_DEPTH_MAX }, ...options },
    answer(method, params, own) {
      // Headers alone are read to know the newest settled block.
      if (method !== 'eth_getBlockByNumber' || params[1] === true) calls.push({ method, at: params[0] });
      return answer(method, params, own);
    },
  });
  onTestFinished(() => stage.close());
  return {
    stage,
    /** By method, how many missing blocks were read, and how often at most. */
    callsPerBlock() {
      const missing = stage.scripted.blocksIn({ from: 1, to: MISSING });
      const numbers = new Map<unknown, number>(
        missing.flatMap(({ number, hash }) => [
          [hash, number],
          [toQuantity(number), number],
        ]),
      );
      const ofBlocks = calls.filter(({ at }) => numbers.has(at));
      const byMethod = Map.groupBy(ofBlocks, ({ method }) => method);
      return Object.fromEntries(
        [...byMethod].map(([method, reads]) => {
          const byBlock = [...Map.groupBy(reads, ({ at }) => numbers.get(at)).values()];
          return [method, [byBlock.length, Math.max(...byBlock.map(({ length }) => length))]];
        }),
      );
    },
  };
}

async function untilProven(stage: ScriptedStage, datasets: readonly Dataset[]): Promise<void> {
  for (const dataset of datasets) await stage.untilCovered(dataset);
  await expect
    .poll(async () => (await stage.coverageOf(marks)).levels, { timeout: 20_000 })
    .toEqual(['receipts']);
}

describe('a missing block', () => {
  it('is read once for logs, transactions, traces and its proof', async () => {
    const datasets = [marks, outcomes, payments] as readonly Dataset[];
    const throttle = { style: 'http-429', callsPerSecond: 200 } as const;
    const { stage, callsPerBlock } = await openUnfilled(datasets, { faults: { throttle } });
    stage.sync(datasets);
    await untilProven(stage, datasets);
    expect(callsPerBlock()).toEqual({
      eth_getBlockByNumber: [MISSING, 1],
      eth_getBlockReceipts: [MISSING, 1],
      // Empty blocks have no traces.
      debug_traceBlockByHash: [expect.any(Number), 1],
    });
    const { stored, expected } = await stage.marksOf(1, BLOCKS);
    expect(stored).toBe(expected);
  });

  it('is repaired by the same read if its filtered logs lacked some', async () => {
    const datasets = [marks, outcomes] as readonly Dataset[];
    const { stage, callsPerBlock } = await openUnfilled(datasets, {
      // Without a second upstream, a range below one that is still read has no link yet.
      upstreams: 2,
      faults: { dropLogsRate: 0.3 },
    });
    stage.sync(datasets);
    await untilProven(stage, datasets);
    const { stored, expected } = await stage.marksOf(1, BLOCKS);
    expect(stored).toBe(expected);
    expect(callsPerBlock()).toMatchObject({ eth_getBlockReceipts: [MISSING, 1] });
    expect(await stage.metricsText()).toMatch(/prover_repaired_blocks_total\{.*\} [1-9]/);
  });
});

describe('the prover', () => {
  const only = [marks] as readonly Dataset[];

  /** Opens a chain whose oldest logs are not answered before `release`. */
  async function openWaiting(speed: number) {
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const opened = await openUnfilled(only, {
      speed,
      async answer(method, params, own) {
        const [filter] = params as readonly { readonly fromBlock?: string }[];
        if (method === 'eth_getLogs' && Number(filter?.fromBlock) === 1) await gate.promise;
        return own(params);
      },
    });
    opened.stage.sync(only);
    await expect.poll(async () => (await opened.stage.coverageOf(marks)).levels).toContain('none');
    return { ...opened, release: gate.resolve };
  }

  it('makes no call while blocks are missing', async () => {
    const { stage, callsPerBlock, release } = await openWaiting(100);
    // It would have looked for work a hundred times.
    await stage.clock.sleep(100_000);
    expect(callsPerBlock()).toEqual({});
    release();
    await untilProven(stage, only);
    expect(callsPerBlock()).toMatchObject({ eth_getBlockReceipts: [MISSING, 1] });
  });

  it('continues beside a fill that makes no progress for ten minutes', async () => {
    const { stage } = await openWaiting(2_000);
    await expect.poll(async () => (await stage.coverageOf(marks)).levels).toEqual(['receipts']);
    expect((await stage.coverageOf(marks)).ranges[0]?.from).toBeGreaterThan(1);
  });
});
