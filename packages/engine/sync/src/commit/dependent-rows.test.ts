/** Rows that depend on others: complete after backfill, verification and reindexing repair the rows that they depend on. */
import { sql } from '@chainstead/db';
import { fieldsOfRow } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import { removeCoverage } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { reindexRanges, verifyRanges } from '../range-jobs/range-commands.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';

const BLOCKS = 60;
const RANGE = { from: 1, to: BLOCKS };
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 981_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await scratch.database.query(sql`CREATE TABLE again (LIKE marks INCLUDING ALL)`);
});

/** Marks of accounts that have a mark in an earlier block. */
const again = {
  ...{ name: 'again', topics: marks.topics, decode: marks.decode },
  table: { ...marks.table, name: 'again' },
  dependent: {
    async select(transaction, chain, _blocks, lines) {
      const rows = await transaction.query<{ account: string; first: number }>(
        sql`SELECT encode(account, 'hex') AS account, min(block_number) AS first FROM marks WHERE chain_id = ${chain.id} GROUP BY account`,
      );
      const first = new Map(rows.map((row) => [row.account, row.first]));
      return lines.filter((line) => {
        const fields = fieldsOfRow(line);
        const hexOf = (column: string) => fields[marks.table.columns.indexOf(column)] ?? '';
        return Number(BigInt(`0x${hexOf('block_number')}`)) > (first.get(hexOf('account')) ?? BLOCKS);
      });
    },
  },
} as Dataset;

const watched = {
  ...marks,
  preceding: {
    async watch(transaction, chain, range) {
      const count = async () => {
        const [row] = await transaction.query<{ rows: number }>(
          sql`SELECT count(*) AS rows FROM marks WHERE chain_id = ${chain.id} AND block_number BETWEEN ${range.from} AND ${range.to}`,
        );
        return row?.rows;
      };
      const before = await count();
      return async () => {
        if ((await count()) === before) return;
        await transaction.query(
          sql`DELETE FROM again WHERE chain_id = ${chain.id} AND block_number >= ${range.from}`,
        );
        await removeCoverage(transaction, chain.id, ['again'], { from: range.from, to: BLOCKS });
      };
    },
  },
} as Dataset;

async function fill(stage: ScriptedStage, datasets: readonly Dataset[]): Promise<void> {
  await backfill({ ...stage, datasets, order: 'newest-first', proof: 'none', kind: 'add' }, [RANGE], never);
}

async function rowsOf(stage: ScriptedStage) {
  const [row] = await scratch.database.query<{ stored: number; wrong: number }>(
    sql`WITH truth AS (
       SELECT * FROM marks WHERE chain_id = ${stage.chain.id} AND EXISTS (
         SELECT FROM marks AS earlier WHERE earlier.chain_id = ${stage.chain.id} AND earlier.account = marks.account AND earlier.block_number < marks.block_number)),
     stored AS (SELECT * FROM again WHERE chain_id = ${stage.chain.id})
     SELECT (SELECT count(*) FROM stored) AS stored,
       (SELECT count(*) FROM ((TABLE truth EXCEPT TABLE stored) UNION ALL (TABLE stored EXCEPT TABLE truth)) AS difference) AS wrong`,
  );
  return row ?? { stored: 0, wrong: -1 };
}

it.each(['verify', 'reindex'] as const)('follow repairs by %s', async (work) => {
  const datasets = [watched, again];
  const stage = await openScriptedStage(scratch.database, nextChainId++, datasets, {
    blocks: BLOCKS,
    faults: { dropLogsRate: 0.4 },
  });
  onTestFinished(() => stage.close());
  await fill(stage, [watched]);
  const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
  expect(stored).toBeLessThan(expected);
  stage.node.faults.set({ dropLogsRate: 0 });
  await fill(stage, [again]);
  const before = await rowsOf(stage);
  const options = { ...stage, proof: 'strict', backfillProof: 'none' } as const;
  await (work === 'verify' ? verifyRanges : reindexRanges)(options, [RANGE], never);
  expect((await stage.marksOf(RANGE.from, RANGE.to)).stored).toBe(expected);
  await fill(stage, [again]);
  expect((await stage.coverageOf(again)).ranges).toEqual([RANGE]);
  const after = await rowsOf(stage);
  expect(after.wrong).toBe(0);
  expect(after.stored).toBeGreaterThan(before.stored);
  // Rows that are new because of other repairs are no fault of an upstream: only omitted marks are.
  const faults = await scratch.database.query<{ kind: string }>(
    sql`SELECT DISTINCT kind FROM upstream_errors WHERE chain_id = ${stage.chain.id}`,
  );
  expect(faults).toEqual(work === 'verify' ? [{ kind: 'missing-logs' }] : []);
});
