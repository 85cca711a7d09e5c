/** A dataset that is added to a chain whose newest blocks may still be replaced: their rows are not awaited, and stay exact in reorgs. */
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { storedHash } from '../checkpoint.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createChunkSizing } from '../read/chunk-size.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { commitRead, readClaimed } from './backfill-chunk.ts';

const BLOCKS = 40;
const REORG_DEPTH_MAX = 12;
const NEVER = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 984_001;

/** The chain is followed with it before marks are added. */
const seen: typeof marks = { ...marks, name: 'seen', table: { ...marks.table, name: 'seen' }, projections: [] };
const known = [seen] as readonly Dataset[];
const both = [seen, marks] as readonly Dataset[];

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await scratch.database.query(sql`CREATE TABLE seen (LIKE marks INCLUDING ALL)`);
});

/** A chain that no block was added to since it was followed without marks. */
async function openFollowed(answer?: () => void): Promise<ScriptedStage> {
  const stage = await openScriptedStage(scratch.database, nextChainId++, both, {
    ...{ blocks: BLOCKS, firstFollowed: null, finalityDepth: null },
    facts: { reorgDepthMax: REORG_DEPTH_MAX },
    answer: (_method, params, own) => {
      answer?.();
      return own(params);
    },
  });
  onTestFinished(() => stage.close());
  const following = stage.sync(known);
  await stage.untilCovered(seen);
  await following.stop();
  return stage;
}

/** Marks as the chain has them now, with the hashes of their blocks. */
async function expectExact({ database, chain, scripted }: ScriptedStage): Promise<void> {
  const stored = await database.query<{ place: string }>(
    sql`SELECT concat_ws(' ', block_number, log_index, encode(block_hash, 'hex')) AS place FROM marks WHERE chain_id = ${chain.id}
      ORDER BY block_number, log_index`,
  );
  const expected = scripted
    .expectedTransfers({ from: 1, to: scripted.head })
    .map(
      ({ blockNumber, logIndex }) => `${blockNumber} ${logIndex} ${scripted.blockAt(blockNumber)?.hash.slice(2)}`,
    );
  expect(stored.map(({ place }) => place)).toEqual(expected);
}

it('fills the newest blocks of an idle chain', async () => {
  const stage = await openFollowed();
  stage.sync(both);
  await stage.untilCovered(marks);
  await expectExact(stage);
  expect((await stage.coverageOf(marks)).levels).toContain('receipts');
});

it.each([
  { depth: 5, length: 7, branch: 'a longer branch' },
  { depth: 6, length: 2, branch: 'a shorter branch' },
])('writes exact rows if $branch replaces the blocks while they are read', async ({ depth, length }) => {
  let armed = false;
  const stage: ScriptedStage = await openFollowed(() => {
    if (!armed) return;
    armed = false;
    stage.scripted.reorg(depth, length);
  });
  stage.sync(both);
  // The first chunk is complete, and the newest blocks are being read.
  await expect.poll(async () => (await stage.coverageOf(marks)).ranges.length).toBeGreaterThan(0);
  armed = true;
  await expect.poll(() => armed).toBe(false);
  await stage.untilCovered(marks);
  await expectExact(stage);
});

// Invariant: SYNC-SAME-HASH
describe('a chunk that was read', () => {
  const range = { from: BLOCKS - 1, to: BLOCKS };

  async function readChunk(stage: ScriptedStage) {
    const span = { range, datasets: [marks] as readonly Dataset[] };
    const options = {
      ...stage,
      order: 'newest-first',
      proof: 'receipts',
      kind: 'add',
      isUnsettled: true,
    } as const;
    const sizing = createChunkSizing({ logsPerChunk: 1_000, blocksFirst: 8, blocksMax: 8 });
    const read = await readClaimed(options, span, range, sizing, NEVER);
    if (read === null) throw new RangeError('The chunk could not be claimed');
    return { commit: () => commitRead(options, span, read, NEVER) };
  }

  it('is written while its blocks are indexed', async () => {
    const stage = await openFollowed();
    await (await readChunk(stage)).commit();
    expect(await stage.coverageOf(marks)).toEqual({ ranges: [range], levels: ['receipts'] });
    expect((await stage.marksOf(range.from, range.to)).stored).toBe(
      stage.scripted.expectedTransfers(range).length,
    );
  });

  it.each([
    { depth: 3, length: 4, branch: 'a longer branch' },
    { depth: 4, length: 1, branch: 'a shorter branch, so that a block is no longer indexed' },
  ])('is refused after $branch', async ({ depth, length }) => {
    const stage = await openFollowed();
    const chunk = await readChunk(stage);
    stage.scripted.reorg(depth, length);
    const following = stage.sync(known);
    const { head } = stage.scripted;
    await expect
      .poll(() => storedHash(stage.database, stage.chain.id, head))
      .toBe(stage.scripted.blockAt(head)?.hash);
    await following.stop();
    await expect(chunk.commit()).rejects.toMatchObject({ code: 'REORGED_WHILE_READING' });
    expect((await stage.marksOf(1, BLOCKS)).stored).toBe(0);
    expect((await stage.coverageOf(marks)).ranges).toEqual([]);
  });
});
