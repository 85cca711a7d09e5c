/** A chunk of an on-demand backfill next to other processes that fill the same blocks. */
import { type Log, subtractRanges } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createClaimOwner } from '../coverage/claims.ts';
import { listSubjectRanges, subjectKey } from '../coverage/subject.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { createMarkTables, markedAccount, marks, misderived } from '../testing/marks-dataset.ts';
import { openRangeCommits } from '../testing/range-commits.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { type Chunk, commitChunk } from './commit-chunk.ts';

const BLOCKS = 20;
const RANGE = { from: 1, to: BLOCKS };
const scratch = scratchOfFile();
let nextChainId = 982_001;

beforeAll(() => createMarkTables(scratch.database));

interface Requested {
  readonly stage: ScriptedStage;
  readonly chunk: Chunk;
  readonly logs: readonly Log[];
}

/** A requested history whose chunk has the logs of all blocks. */
async function openRequested(): Promise<Requested> {
  const { database } = scratch;
  const stage = await openScriptedStage(database, nextChainId++, [marks], { blocks: BLOCKS });
  onTestFinished(() => stage.close());
  const answer = await stage.pool.getLogs({ range: RANGE, topics: marks.topics(stage.chain) });
  const logs = answer.logs.filter((log) => markedAccount(log) !== null);
  const headers = await stage.pool.getHeaders([...new Set(logs.map(({ blockNumber }) => blockNumber))]);
  const blocks = new Map(headers.map(({ value }) => [value.number, value]));
  const subject = { chainId: stage.chain.id, kind: 'wallet', address: addressOf(1) } as const;
  await database.query(
    sql`INSERT INTO backfill_requests (chain_id, kind, subject) VALUES (${subjectKey(subject)})`,
  );
  return {
    stage,
    chunk: { subject, dataset: marks, range: RANGE, read: { found: { logs }, blocks, calls: 1 } },
    logs,
  };
}

async function expectRecorded({ stage, chunk }: Requested, rows: number): Promise<void> {
  const [made] = await scratch.database.query(
    sql`SELECT calls_made, rows_added FROM backfill_requests WHERE chain_id = ${stage.chain.id}`,
  );
  expect(made).toEqual({ callsMade: 1, rowsAdded: rows });
  const ranges = await listSubjectRanges(scratch.database, chunk.subject);
  expect(ranges).toEqual([{ dataset: marks.name, range: RANGE }]);
}

it('writes its rows while another process holds the blocks, which then finds them', async () => {
  const requested = await openRequested();
  const { stage, chunk, logs } = requested;
  const other = await createClaimOwner(scratch.database);
  onTestFinished(() => other.close());
  expect(await other.claim(stage.chain.id, RANGE, 'backfill')).toBe(true);
  expect(await commitChunk(stage, chunk)).toBe(logs.length);
  await expectRecorded(requested, logs.length);
  await other.release(stage.chain.id, RANGE);
  const commits = await openRangeCommits(scratch.database, stage.chain);
  onTestFinished(() => commits.close());
  await commits.commit([marks], { range: RANGE, logs, kind: 'add' });
  expect(await stage.marksOf(1, BLOCKS)).toEqual({ stored: logs.length, expected: logs.length });
});

// Invariant: SYNC-NO-DUPLICATE
it('leaves out blocks that are covered before it has the commit lock', async () => {
  const requested = await openRequested();
  const { stage, chunk, logs } = requested;
  const commits = await openRangeCommits(scratch.database, stage.chain);
  onTestFinished(() => commits.close());
  let transactions = 0;
  const database: typeof stage.database = {
    ...stage.database,
    async transaction(work) {
      transactions += 1;
      // As if nodes had lied to the history: the blocks that are covered have no log.
      if (transactions === 1)
        await commits.commit([marks], { range: { from: 1, to: BLOCKS / 2 }, logs: [], kind: 'add' });
      return stage.database.transaction(work);
    },
  };
  const later = logs.filter((log) => log.blockNumber > BLOCKS / 2);
  expect(Math.min(later.length, logs.length - later.length)).toBeGreaterThan(0);
  expect(await commitChunk({ ...stage, database }, chunk)).toBe(later.length);
  await expectRecorded(requested, later.length);
  expect(await stage.marksOf(1, BLOCKS)).toMatchObject({ stored: later.length });
});

it('writes nothing if it has no logs, and is recorded', async () => {
  const requested = await openRequested();
  const { stage, chunk } = requested;
  const read = { ...chunk.read, found: { logs: [] } };
  expect(await commitChunk(stage, { ...chunk, read })).toBe(0);
  await expectRecorded(requested, 0);
});

/** A log that nodes made up, next to the real ones. */
function lieBeside([truth]: readonly Log[]): Log {
  if (truth === undefined) throw new Error('The chain has transfers');
  return { ...truth, logIndex: 1_000, data: `0x${'f'.repeat(64)}` };
}

it('leaves no row that nodes made up, once proven rows of the same blocks are added', async () => {
  const { stage, chunk, logs } = await openRequested();
  const found = { logs: [...logs, lieBeside(logs)] };
  expect(await commitChunk(stage, { ...chunk, read: { ...chunk.read, found } })).toBe(logs.length + 1);
  const commits = await openRangeCommits(scratch.database, stage.chain);
  onTestFinished(() => commits.close());
  await commits.commit([marks], { range: RANGE, logs, kind: 'add', proof: 'receipts' });
  expect(await stage.marksOf(1, BLOCKS)).toEqual({ stored: logs.length, expected: logs.length });
  expect(await misderived(scratch.database, stage.chain.id)).toEqual([]);
});

it('keeps its rows of a block that is left out of proven ones', async () => {
  const { stage, chunk, logs } = await openRequested();
  await commitChunk(stage, { ...chunk, read: { ...chunk.read, found: { logs: [...logs, lieBeside(logs)] } } });
  const commits = await openRangeCommits(scratch.database, stage.chain);
  onTestFinished(() => commits.close());
  const left = logs.at(-1)?.blockNumber ?? 0;
  expect(left).toBeGreaterThan(logs[0]?.blockNumber ?? left);
  const read = logs.filter((log) => log.blockNumber !== left);
  const levelled = subtractRanges([RANGE], [{ from: left, to: left }]);
  await commits.commit([marks], { range: RANGE, logs: read, levelled, kind: 'add', proof: 'receipts' });
  expect(await stage.marksOf(1, BLOCKS)).toEqual({ stored: logs.length, expected: logs.length });
  expect(await misderived(scratch.database, stage.chain.id)).toEqual([]);
});

it.each([false, true])(
  'leaves no row that nodes made up, if it ends while proven rows are written, in stored blocks: %s',
  async (isStored) => {
    const { stage, chunk, logs } = await openRequested();
    const { database } = scratch;
    const commits = await openRangeCommits(database, stage.chain);
    onTestFinished(() => commits.close());
    // The blocks of another dataset.
    if (isStored) await commits.commit([], { range: RANGE, logs, kind: 'add' });
    const untilWaiting = (count: number): Promise<void> =>
      vi.waitFor(async () => {
        const waiting = await database.query(
          sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        expect(waiting).toHaveLength(count);
      }, 10_000);
    const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = database.transaction(async (transaction) => {
      await lockChainCommits(transaction, stage.chain);
      held.resolve();
      await free.promise;
    });
    await held.promise;
    const found = { logs: [lieBeside(logs)] };
    const history = commitChunk(stage, { ...chunk, read: { ...chunk.read, found } });
    await untilWaiting(1);
    const proven = commits.commit([marks], { range: RANGE, logs, kind: 'add', proof: 'receipts' });
    await untilWaiting(2);
    free.resolve();
    await Promise.all([other, history, proven]);
    expect(await stage.marksOf(1, BLOCKS)).toEqual({ stored: logs.length, expected: logs.length });
    expect(await misderived(database, stage.chain.id)).toEqual([]);
  },
);

it('keeps its rows when rows without a proof are added, which may lack some', async () => {
  const { stage, chunk, logs } = await openRequested();
  await commitChunk(stage, chunk);
  const commits = await openRangeCommits(scratch.database, stage.chain);
  onTestFinished(() => commits.close());
  await commits.commit([marks], { range: RANGE, logs: logs.slice(1), kind: 'add' });
  expect(await stage.marksOf(1, BLOCKS)).toEqual({ stored: logs.length, expected: logs.length });
});
