import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readChainState } from '../checkpoint.ts';
import { type ProvenBlock, readProvenBlock } from '../read/proven-block.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { commitFollowed, type FollowedCommit } from './commit-followed.ts';
import type { CommitSlot } from './commit-pipeline.ts';

const BLOCKS = 6;
const scratch = scratchOfFile();
let nextChainId = 950_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
});

/** A chain in two halves: the second is committed behind the first. */
interface HalvesStage extends ScriptedStage {
  readonly first: FollowedCommit;
  readonly second: FollowedCommit;
  stored(): Promise<{ readonly checkpoint: number | null; readonly marks: number }>;
}

async function openHalves(): Promise<HalvesStage> {
  const stage = await openScriptedStage(scratch.database, nextChainId++, [marks], {
    blocks: BLOCKS,
    firstFollowed: 1,
  });
  onTestFinished(() => stage.close());
  const blocks: ProvenBlock[] = [];
  for (let number = 1; number <= BLOCKS; number++) {
    const block = await readProvenBlock(stage, number);
    if (block !== null) blocks.push(block);
  }
  const middle = blocks[BLOCKS / 2 - 1]?.header;
  if (middle === undefined) throw new Error('The chain has no middle');
  return {
    ...stage,
    first: { from: null, ancestor: null, blocks: blocks.slice(0, BLOCKS / 2) },
    second: {
      from: { number: middle.number, hash: middle.hash },
      ancestor: null,
      blocks: blocks.slice(BLOCKS / 2),
    },
    stored: async () => ({
      checkpoint: (await readChainState(scratch.database, stage.chain.id))?.checkpoint?.number ?? null,
      marks: (await stage.marksOf(1, BLOCKS)).stored,
    }),
  };
}

/** A slot that the test releases. */
function openSlot() {
  const before = Promise.withResolvers<void>();
  const rowsDiscarded = new AbortController();
  const slot = {
    reached: () => before.promise,
    preempted: rowsDiscarded.signal,
    written: vi.fn(),
    rowsDiscarded: vi.fn(),
  } satisfies CommitSlot;
  return { slot, before, rowsDiscarded };
}

async function requireWhole(stage: HalvesStage): Promise<void> {
  expect(await stage.stored()).toEqual({ checkpoint: BLOCKS, marks: (await stage.marksOf(1, BLOCKS)).expected });
  expect(await misderived(scratch.database, stage.chain.id)).toEqual([]);
  expect((await stage.coverageOf(marks)).ranges).toEqual([{ from: 1, to: BLOCKS }]);
}

const EMPTY = { checkpoint: null, marks: 0 };

describe('a commit behind another', () => {
  it('has its rows written while that one is under way, shows nothing of them, and ends behind it', async () => {
    const stage = await openHalves();
    const { slot, before } = openSlot();
    const second = commitFollowed(stage, { ...stage.second, slot });
    await vi.waitFor(() => expect(slot.written).toHaveBeenCalled());
    expect(await stage.stored()).toEqual(EMPTY);
    await commitFollowed(stage, stage.first);
    expect((await stage.stored()).checkpoint).toBe(BLOCKS / 2);
    before.resolve();
    expect(await second).toMatchObject({ number: BLOCKS });
    expect(slot.rowsDiscarded).not.toHaveBeenCalled();
    await requireWhole(stage);
  });

  // Invariant: SYNC-WHOLE-BLOCK
  it('leaves nothing behind when that one fails', async () => {
    const stage = await openHalves();
    const { slot, before } = openSlot();
    const second = commitFollowed(stage, { ...stage.second, slot });
    await vi.waitFor(() => expect(slot.written).toHaveBeenCalled());
    before.reject(new Error('the first one failed'));
    await expect(second).rejects.toThrow('the first one failed');
    expect(await stage.stored()).toEqual(EMPTY);
    // The next commits start from the empty checkpoint again.
    await commitFollowed(stage, stage.first);
    await commitFollowed(stage, stage.second);
    await requireWhole(stage);
  });

  it('lets go of its rows and its connection when that one begins again, and writes them once it has ended', async () => {
    const stage = await openHalves();
    const { slot, before, rowsDiscarded } = openSlot();
    const second = commitFollowed(stage, { ...stage.second, slot });
    await vi.waitFor(() => expect(slot.written).toHaveBeenCalledTimes(1));
    rowsDiscarded.abort();
    await vi.waitFor(() => expect(slot.rowsDiscarded).toHaveBeenCalledTimes(1));
    const [waiting] = await scratch.database.query<{ sessions: number }>(
      sql`SELECT count(*)::int AS sessions FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    expect(waiting?.sessions).toBe(0);
    await commitFollowed(stage, stage.first);
    before.resolve();
    await second;
    expect(slot.written).toHaveBeenCalledTimes(2);
    await requireWhole(stage);
  });
});

describe('a commit whose rows somebody else has written', () => {
  // Invariant: SYNC-PARENT-CHECKPOINT
  it('says that the checkpoint has moved, and changes nothing', async () => {
    const stage = await openHalves();
    await commitFollowed(stage, stage.first);
    const before = await stage.stored();
    await expect(commitFollowed(stage, stage.first)).rejects.toMatchObject({ code: 'CHECKPOINT_MOVED' });
    expect(await stage.stored()).toEqual(before);
  });
});

// Invariant: PROOF-SENDERS
describe('a block whose senders are still being recovered', () => {
  const withSenders = ({ first }: HalvesStage, sendersHold: Promise<boolean>): FollowedCommit => ({
    ...first,
    blocks: first.blocks.map((block, place) => (place === 1 ? { ...block, sendersHold } : block)),
  });

  it('is committed once they are known to be those that are named', async () => {
    const stage = await openHalves();
    const senders = Promise.withResolvers<boolean>();
    const { slot, before } = openSlot();
    before.resolve();
    const commit = commitFollowed(stage, { ...withSenders(stage, senders.promise), slot });
    await vi.waitFor(() => expect(slot.written).toHaveBeenCalled());
    expect(await stage.stored()).toEqual(EMPTY);
    senders.resolve(true);
    expect(await commit).toMatchObject({ number: BLOCKS / 2 });
  });

  it.each([
    ['one is a lie', () => Promise.resolve(false), { code: 'SENDER_CONTRADICTED' }],
    [
      'they can’t be recovered',
      () => Promise.reject(new Error('nobody recovers')),
      { message: 'nobody recovers' },
    ],
  ])('is not committed where %s', async (_what, sendersHold, error) => {
    const stage = await openHalves();
    const promise = sendersHold();
    promise.catch(() => undefined);
    await expect(commitFollowed(stage, withSenders(stage, promise))).rejects.toMatchObject(error);
    expect(await stage.stored()).toEqual(EMPTY);
  });
});
