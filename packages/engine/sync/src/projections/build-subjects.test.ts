import { type Address, createMetricsRegistry, waitingAtMost } from '@chainstead/core';
import { type Database, hexBytes, type Sql, sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SubjectProjection } from '../dataset/projection.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { LAST_BACKFILLED, type MarkedChain, openMarkedChain } from '../testing/marked-chain.ts';
import { createMarkTables } from '../testing/marks-dataset.ts';
import {
  accountsOf,
  createSubjectMarkTables,
  datasetOf,
  miscountedMarks,
  subjectMarks,
} from '../testing/subject-marks.ts';
import { buildTogether } from './build-subjects.ts';
import { createSubjectProjections } from './subject-projections.ts';

const scratch = scratchOfFile();
let marked: MarkedChain;
let accounts: Address[];

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createSubjectMarkTables(scratch.database);
  marked = await openMarkedChain(scratch.database, 940_001, { dataset: datasetOf(1) });
  await marked.take({ kind: 'backfill', range: { from: 1, to: LAST_BACKFILLED }, dropEvery: 0 });
  accounts = await accountsOf(scratch.database, marked.chainId);
});
afterAll(async () => {
  await marked.close();
});
beforeEach(() => scratch.database.query(sql`TRUNCATE subject_marks, subject_projections`));

const OF = { dataset: datasetOf(1), state: subjectMarks(1) };

const together = (subjects: readonly Address[], max: { readonly rows: number; readonly rowsOfOne: number }) =>
  buildTogether(scratch.database, marked.chain, OF, subjects, max);

async function rowsByAccount(): Promise<ReadonlyMap<Address, number>> {
  const rows = await scratch.database.query<{ account: Address; rows: number }>(
    sql`SELECT '0x' || encode(account, 'hex') AS account, count(*) AS rows FROM marks WHERE chain_id = ${marked.chainId} GROUP BY account`,
  );
  return new Map(rows.map(({ account, rows: count }) => [account, count]));
}

describe('subjects that are counted together', () => {
  test('are those with few rows; the others are to be counted alone', async () => {
    const rows = await rowsByAccount();
    const most = Math.max(...rows.values());
    const small = accounts.filter((account) => (rows.get(account) ?? 0) < most);
    const progress = await together(accounts, { rows: 1_000_000, rowsOfOne: most - 1 });
    expect(new Map(progress)).toEqual(
      new Map(accounts.map((account) => [account, small.includes(account) ? 'built' : 'alone'])),
    );
    const kept = await scratch.database.query<{ subject: Address; rows: number }>(
      sql`SELECT '0x' || encode(subject, 'hex') AS subject, rows FROM subject_projections WHERE chain_id = ${marked.chainId} ORDER BY 1`,
    );
    expect(kept).toEqual(small.map((subject) => ({ subject, rows: rows.get(subject) })));
    expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
  });

  test('are no more than fit into a piece, the first of them always', async () => {
    const most = Math.max(...(await rowsByAccount()).values());
    for (const order of [accounts, accounts.toReversed()]) {
      await scratch.database.query(sql`TRUNCATE subject_marks, subject_projections`);
      const progress = await together(order, { rows: most + 1, rowsOfOne: most });
      expect([...progress.keys()]).toContain(order[0]);
      expect(new Set(progress.values())).toEqual(new Set(['built']));
      expect(progress.size).toBeLessThan(order.length);
      const [counted] = await scratch.database.query<{ rows: number }>(
        sql`SELECT sum(marks)::bigint AS rows FROM subject_marks`,
      );
      expect(counted?.rows).toBeLessThanOrEqual(most + 1);
      expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
    }
  });

  // Invariant: SYNC-SUBJECT-ONCE
  test('are not counted again, nor begun by whoever counts one of them alone', async () => {
    const max = { rows: 1_000_000, rowsOfOne: 999_999 };
    await together(accounts.slice(0, 2), max);
    await scratch.database.query(
      sql`UPDATE subject_projections SET built_to = 3 WHERE subject = ${Buffer.from(accounts[1]?.slice(2) ?? '', 'hex')}`,
    );
    const progress = await together(accounts, max);
    expect(accounts.map((account) => progress.get(account))).toEqual(
      accounts.map((_, place) => (place === 1 ? 'alone' : 'built')),
    );
  });

  test('are deleted first where another version counted them', async () => {
    const max = { rows: 1_000_000, rowsOfOne: 999_999 };
    await together(accounts, max);
    await scratch.database.query(sql`UPDATE subject_projections SET built_to = -1, is_stale = true, rows = 0`);
    expect(new Set((await together(accounts, max)).values())).toEqual(new Set(['built']));
    expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
  });
});

test('a thousand first requests are a few transactions, not a thousand', async () => {
  let answered = 0;
  let transactions = 0;
  const counting: Database = {
    ...scratch.database,
    query: async <Row extends object>(statement: Sql) => {
      const rows = await scratch.database.query<Row>(statement);
      answered++;
      return rows;
    },
    transaction: (work) => {
      transactions++;
      return scratch.database.transaction(work);
    },
  };
  const kept = createSubjectProjections(counting);
  const nobodies = Array.from({ length: 1_000 }, (_, number) => addressOf(0x50_000 + number));
  const requested = [...accounts, ...nobodies];
  const { asking } = await scratch.database.transaction(async (transaction) => {
    await lockChainCommits(transaction, marked.chain);
    const asking = requested.map((account) => waitingAtMost(60_000, () => kept.keep(marked.chain, OF, account)));
    await vi.waitFor(() => expect(answered).toBeGreaterThan(requested.length), { timeout: 30_000 });
    // Not awaited here: these builds wait for this transaction.
    return { asking };
  });
  expect(new Set(await Promise.all(asking))).toEqual(new Set(['built']));
  expect(transactions).toBeLessThanOrEqual(12);
  expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
});

test('who can’t be counted fails alone', async () => {
  const bad = hexBytes(accounts[1] ?? '');
  const state: SubjectProjection = {
    ...OF.state,
    added: (change) => [
      sql`SELECT 1 / (count(*) FILTER (WHERE subject = ${bad}) - 1) FROM ${change.subjects} AS subjects`,
      ...OF.state.added(change),
    ],
  };
  const registry = createMetricsRegistry();
  const kept = createSubjectProjections(scratch.database, registry);
  const settled = await Promise.allSettled(
    accounts.map((account) => waitingAtMost(60_000, () => kept.keep(marked.chain, { ...OF, state }, account))),
  );
  const text = await registry.metrics();
  const labels = `chain="${marked.chain.key}",state="${state.name}"`;
  expect(text).toContain(`chainstead_subject_projection_builds_total{${labels},outcome="failed"} 1\n`);
  expect(text).toContain(
    `chainstead_subject_projection_builds_total{${labels},outcome="built"} ${accounts.length - 1}\n`,
  );
  expect(text).toContain(`chainstead_subject_projections_building{${labels}} 0\n`);
  expect(settled.map(({ status }) => status)).toEqual(
    accounts.map((_, place) => (place === 1 ? 'rejected' : 'fulfilled')),
  );
  expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
});
