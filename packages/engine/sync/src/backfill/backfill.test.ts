import { type Database, sql } from '@chainstead/db';
import type { FaultSettings } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createClaimOwner } from '../coverage/claims.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  expectedPayments,
  outcomes,
  payments,
  storedOutcomes,
  storedPayments,
} from '../testing/whole-block-datasets.ts';
import { backfill } from './backfill.ts';
import type { BackfillOptions } from './backfill-options.ts';

const ALL = [payments, outcomes, marks] as readonly Dataset[];
const BLOCKS = 90;
const RANGE = { from: 1, to: BLOCKS };
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 960_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

async function openStage(faults: Partial<FaultSettings> = {}): Promise<ScriptedStage> {
  const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, { blocks: BLOCKS, faults });
  onTestFinished(() => stage.close());
  return stage;
}

const optionsOf = (stage: ScriptedStage, changes: Partial<BackfillOptions> = {}): BackfillOptions => ({
  ...stage,
  order: 'newest-first',
  proof: 'none',
  kind: 'add',
  ...changes,
});

/** Returns a database in which every nth transaction fails. */
function interrupted(database: Database, every: number): Database {
  let transactions = 0;
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (transaction) => {
        const result = await work(transaction);
        transactions += 1;
        if (transactions % every === 0) throw new Error('The connection was lost before the commit');
        return result;
      }),
  };
}

async function expectTruth(stage: ScriptedStage): Promise<void> {
  const { chain, scripted, database } = stage;
  const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
  expect(stored).toBe(expected);
  expect(await storedOutcomes(database, chain.id)).toEqual(expectedOutcomes(scripted, RANGE));
  expect(await storedPayments(database, chain.id)).toEqual(expectedPayments(scripted, RANGE));
  expect(await misderived(database, chain.id)).toEqual([]);
  for (const dataset of ALL) expect((await stage.coverageOf(dataset)).ranges).toEqual([RANGE]);
  const claims = await database.query(sql`SELECT * FROM sync_claims WHERE chain_id = ${chain.id}`);
  expect(claims).toEqual([]);
}

describe('the backfill', () => {
  it('reads logs by range where they are enough, and whole blocks only for datasets that need them', async () => {
    const stage = await openStage();
    const done = await backfill(optionsOf(stage), [RANGE], never);
    await expectTruth(stage);
    expect(done).toMatchObject({ done: 2 * BLOCKS, total: 2 * BLOCKS, unavailable: null });
    expect((await stage.coverageOf(marks)).levels).toEqual(['none']);
    expect((await stage.coverageOf(outcomes)).levels).toEqual(['receipts']);
    expect((await stage.coverageOf(payments)).levels).toEqual(['not-applicable']);
    expect(stage.callsOf('eth_getLogs')).toBeLessThan(10);
    // One read for transactions and traces.
    expect(stage.callsOf('eth_getBlockReceipts')).toBeLessThan(BLOCKS + 5);
  });

  it('reads a block once for logs and transactions where logs are to be proven, too', async () => {
    const stage = await openStage();
    const datasets = [outcomes, marks] as readonly Dataset[];
    await backfill(optionsOf(stage, { proof: 'receipts', datasets }), [RANGE], never);
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
    expect((await stage.coverageOf(outcomes)).levels).toEqual(['receipts']);
    expect(stage.callsOf('eth_getBlockReceipts')).toBeLessThan(BLOCKS + 5);
    expect(stage.callsOf('eth_getLogs')).toBe(0);
  });

  it('leaves what is covered alone, and fills gaps alone', async () => {
    const stage = await openStage();
    const some = { from: 20, to: 40 };
    await backfill(optionsOf(stage, { order: 'oldest-first' }), [some], never);
    const done = await backfill(optionsOf(stage), [RANGE], never);
    expect(done.total).toBe(2 * (BLOCKS - 21));
    await expectTruth(stage);
    expect((await backfill(optionsOf(stage), [RANGE], never)).total).toBe(0);
  });

  it('comes to the same when transactions are lost between read and commit', async () => {
    const stage = await openStage();
    await backfill(optionsOf(stage, { database: interrupted(scratch.database, 3) }), [RANGE], never);
    await expectTruth(stage);
  });

  // Invariant: SYNC-WHOLE-BLOCK
  it('goes on where it was stopped: rows and coverage of a chunk are there together or not at all', async () => {
    const stage = await openStage();
    const stop = new AbortController();
    const stopped = backfill(
      optionsOf(stage, {
        onProgress: ({ done }) => {
          if (done >= BLOCKS + 10) stop.abort(new Error('The process ends'));
        },
      }),
      [RANGE],
      stop.signal,
    );
    await expect(stopped).rejects.toThrow('The process ends');
    const { ranges } = await stage.coverageOf(outcomes);
    const covered = ranges.flatMap((range) => expectedOutcomes(stage.scripted, range)).sort();
    expect(covered.length).toBeGreaterThan(0);
    expect(await storedOutcomes(scratch.database, stage.chain.id)).toEqual(covered);
    // Another process resumes once the claims of the first are gone.
    await stage.owner.close();
    const owner = await createClaimOwner(scratch.database);
    onTestFinished(() => owner.close());
    await backfill(optionsOf(stage, { owner }), [RANGE], never);
    await expectTruth(stage);
  });

  it('works around blocks that another process holds, and comes back to them', async () => {
    const stage = await openStage();
    const other = await createClaimOwner(scratch.database);
    onTestFinished(() => other.close());
    const held = { from: 30, to: 35 };
    expect(await other.claim(stage.chain.id, held, 'reindex')).toBe(true);
    let waits = 0;
    const filled = backfill(
      optionsOf(stage, {
        clock: {
          now: stage.clock.now,
          sleep: async (ms, signal) => {
            waits += 1;
            if (waits === 5) await other.release(stage.chain.id, held);
            await stage.clock.sleep(ms, signal);
          },
        },
      }),
      [RANGE],
      never,
    );
    await filled;
    expect(waits).toBeGreaterThan(4);
    await expectTruth(stage);
  });

  it('reads in halves what a node refuses now and then', async () => {
    const stage = await openStage({ methods: ['eth_getLogs'], errorRate: 0.4 });
    await backfill(optionsOf(stage, { datasets: [marks as Dataset] }), [RANGE], never);
    const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
    expect(stored).toBe(expected);
    expect((await stage.coverageOf(marks)).ranges).toEqual([RANGE]);
  });

  it('leaves blocks out that nobody can prove, where no logs are read with them', async () => {
    const stage = await openStage({ dropReceiptLogsRate: 0.02 });
    const done = await backfill(optionsOf(stage), [RANGE], never);
    expect(done.unavailable).toMatchObject({ code: 'BLOCK_PART_UNAVAILABLE' });
    expect((await stage.coverageOf(marks)).ranges).toEqual([RANGE]);
    const { ranges } = await stage.coverageOf(outcomes);
    const covered = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    expect(covered).toBeGreaterThan(BLOCKS / 3);
    expect(covered).toBeLessThan(BLOCKS);
    stage.node.faults.clear();
    expect((await backfill(optionsOf(stage), [RANGE], never)).unavailable).toBeNull();
    await expectTruth(stage);
  });

  it('puts what it reads anew in the place of what was there', async () => {
    const stage = await openStage();
    await backfill(optionsOf(stage), [RANGE], never);
    await scratch.database.query(sql`UPDATE outcomes SET gas_used = 0 WHERE chain_id = ${stage.chain.id}`);
    await scratch.database.query(
      sql`DELETE FROM payments WHERE chain_id = ${stage.chain.id} AND block_number > 50`,
    );
    await backfill(optionsOf(stage, { kind: 'replace' }), [RANGE], never);
    await expectTruth(stage);
  });
});
