import { sql } from '@chainstead/db';
import { address, hash } from '@chainstead/db/column-types';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import type { RetentionSettings } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { defineTable } from '../dataset/row-table.ts';
import { readChainStatuses } from '../status/chain-status.ts';
import { marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { deleteOldRows } from './delete-old-rows.ts';

const BLOCKS = 300;
const RANGE = { from: 1, to: BLOCKS };
const RETENTION: RetentionSettings = { blocks: 100, since: null };
const RETAINED_FROM = 201;
/** 64 blocks of reorg depth below the window. */
const BELOW = RETAINED_FROM - 64;
const never = new AbortController().signal;

const table = pgTable(
  'placed_marks',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    logIndex: integer('log_index').notNull(),
    account: address('account').notNull(),
    amount: numeric('amount').notNull(),
    blockHash: hash('block_hash').notNull(),
  },
  (placed) => [primaryKey({ columns: [placed.chainId, placed.blockNumber, placed.logIndex] })],
);
const { topics, decode } = marks;
const deleting: Dataset = {
  ...{ name: 'placed-marks', topics, decode, deletesOldRows: true },
  table: defineTable(table) as Dataset['table'],
};

const scratch = scratchOfFile();
let nextChainId = 986_001;

beforeAll(async () => {
  await scratch.database.query(sql`CREATE TABLE placed_marks (chain_id bigint, block_number bigint, log_index integer, account bytea,
    amount numeric, block_hash bytea, PRIMARY KEY (chain_id, block_number, log_index))`);
});

/** Opens a chain with all rows. */
async function openFilled(dataset: Dataset = deleting): Promise<ScriptedStage> {
  const stage = await openScriptedStage(scratch.database, nextChainId++, [dataset], {
    blocks: BLOCKS,
    firstFollowed: BLOCKS + 1,
  });
  onTestFinished(() => stage.close());
  await backfill({ ...stage, order: 'newest-first', proof: 'none', kind: 'add' }, [RANGE], never);
  return stage;
}

async function blocksOf({ chain }: ScriptedStage): Promise<readonly number[]> {
  const rows = await scratch.database.query<{ block: number }>(
    sql`SELECT block_number AS block FROM placed_marks WHERE chain_id = ${chain.id} ORDER BY block_number, log_index`,
  );
  return rows.map(({ block }) => block);
}

const truthFrom = ({ scripted }: ScriptedStage, from: number): readonly number[] =>
  scripted
    .expectedTransfers({ from, to: BLOCKS })
    .map(({ blockNumber }) => blockNumber)
    .sort((one, other) => one - other);

// Invariant: SYNC-RETENTION-COVERAGE
it.each([1, 7, 10_000])(
  'deletes old rows with their coverage, %i at a time, and counts them',
  async (rowsAtOnce) => {
    const [stage, other] = [await openFilled(), await openFilled()];
    const all = truthFrom(stage, 1);
    const kept = truthFrom(stage, BELOW);
    expect(await blocksOf(stage)).toEqual(all);
    const deleted = await deleteOldRows({ ...stage, retention: RETENTION }, never, rowsAtOnce);
    expect(deleted).toBe(all.length - kept.length);
    expect(deleted).toBeGreaterThan(50);
    expect(await blocksOf(stage)).toEqual(kept);
    // Blocks after the last deleted row never had any: they stay covered.
    const last = all.findLast((block) => block < BELOW) ?? 0;
    expect((await stage.coverageOf(deleting)).ranges).toEqual([{ from: last + 1, to: BLOCKS }]);
    const counted = (await stage.metrics.droppedRows.get()).values.find(
      ({ labels }) => labels.dataset === 'placed-marks' && labels.chain === stage.chain.key,
    );
    expect(counted?.value).toBe(deleted);
    expect(await deleteOldRows({ ...stage, retention: RETENTION }, never)).toBe(0);
    // Neither gaps, nor read again.
    const [status] = (
      await readChainStatuses(scratch.database, [deleting], [stage.chain], () => RETENTION)
    ).filter(({ chainId }) => chainId === stage.chain.id);
    expect(status).toMatchObject({ gaps: [], retainedFrom: RETAINED_FROM });
    const filling = { ...stage, order: 'newest-first', proof: 'none', kind: 'add' } as const;
    expect(await backfill({ ...filling, retention: RETENTION }, [RANGE], never)).toMatchObject({ total: 0 });
    // The other chain is untouched; without the setting, the rows come back.
    expect(await blocksOf(other)).toEqual(truthFrom(other, 1));
    await backfill(filling, [RANGE], never);
    expect(await blocksOf(stage)).toEqual(all);
  },
);

it('keeps rows without a setting, of datasets that keep theirs, and after a stop', async () => {
  const stage = await openFilled();
  expect(await deleteOldRows(stage, never)).toBe(0);
  expect(await deleteOldRows({ ...stage, retention: { blocks: null, since: null } }, never)).toBe(0);
  const keeping = [{ ...deleting, deletesOldRows: false }, { ...deleting, isKeptWhole: true }, marks as Dataset];
  expect(await deleteOldRows({ ...stage, datasets: keeping, retention: RETENTION }, never)).toBe(0);
  expect(await deleteOldRows({ ...stage, retention: RETENTION }, AbortSignal.abort())).toBe(0);
  expect(await blocksOf(stage)).toEqual(truthFrom(stage, 1));
});
