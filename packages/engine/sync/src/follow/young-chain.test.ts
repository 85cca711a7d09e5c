import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createChainSync } from '../chain-sync.ts';
import type { ChainSyncSettings } from '../chain-sync-options.ts';
import { readChainState, saveChainStart } from '../checkpoint.ts';
import { backfillRanges } from '../range-jobs/range-commands.ts';
import { readChainStatuses } from '../status/chain-status.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';

const BLOCKS = 40;
const scratch = scratchOfFile();
beforeAll(() => createMarkTables(scratch.database));

async function openStage(chainId: number): Promise<ScriptedStage> {
  const stage = await openScriptedStage(scratch.database, chainId, [marks], {
    blocks: BLOCKS,
    firstFollowed: null,
    finalityDepth: null,
  });
  onTestFinished(() => stage.close());
  return stage;
}

/** Returns the first block of a followed chain without a configured start. */
async function firstStart(stage: ScriptedStage, wholeBelow: number): Promise<number | undefined> {
  const settings: ChainSyncSettings = {
    startBlock: null,
    wholeBelow,
    endBlock: null,
    proof: 'strict',
    backfillProof: 'none',
    backfillOrder: 'newest-first',
    verifyBlocksPerSecond: 0,
  };
  const ended = new AbortController();
  const running = createChainSync({ ...stage, settings }).run(ended.signal);
  await vi.waitFor(
    async () => {
      const state = await readChainState(stage.database, stage.chain.id);
      expect(state?.checkpoint?.number).toBe(stage.scripted.head);
    },
    { timeout: 20_000, interval: 20 },
  );
  ended.abort();
  await running;
  return (await readChainState(stage.database, stage.chain.id))?.historyStart;
}

test('history begins with the first block while the head is below the bound, else at the head', async () => {
  expect(await firstStart(await openStage(967_001), BLOCKS + 1)).toBe(0);
  expect(await firstStart(await openStage(967_002), BLOCKS)).toBe(BLOCKS);
});

test('a backfill reaches the first followed block of a chain that stands still, and holes below it are shown', async () => {
  const stage = await openStage(967_003);
  await saveChainStart(stage.database, stage.chain, BLOCKS, BLOCKS);
  const options = { ...stage, proof: 'strict', backfillProof: 'none' } as const;
  const fill = (from: number, to: number) => backfillRanges(options, [{ from, to }], AbortSignal.timeout(20_000));
  const gaps = async () => {
    const statuses = await readChainStatuses(stage.database, [marks], [stage.chain]);
    return statuses.find(({ chainId }) => chainId === stage.chain.id)?.gaps.map(({ range }) => range);
  };
  await expect(fill(1, BLOCKS)).rejects.toMatchObject({
    code: 'RANGE_NOT_FINAL',
    facts: { highestFinal: BLOCKS - 1 },
  });
  await fill(1, 20);
  expect(await gaps()).toEqual([{ from: 21, to: BLOCKS - 1 }]);
  await fill(30, BLOCKS - 1);
  expect(await gaps()).toEqual([{ from: 21, to: 29 }]);
  await fill(1, BLOCKS - 1);
  expect(await gaps()).toEqual([]);
});
