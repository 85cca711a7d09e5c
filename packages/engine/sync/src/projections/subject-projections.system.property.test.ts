import { setTimeout as sleep } from 'node:timers/promises';
import { waitingAtMost } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { atDepth, dyingDatabase, KilledError } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import type { SubjectProjection } from '../dataset/projection.ts';
import { ROWS_AT_ONCE } from '../read/decoded-batch.ts';
import { lockChainCommits, retryCommit } from '../rows/commit-retry.ts';
import { LAST_BACKFILLED, type MarkedChain, openMarkedChain } from '../testing/marked-chain.ts';
import { createMarkTables } from '../testing/marks-dataset.ts';
import { someMoment } from '../testing/some-steps.ts';
import {
  accountsOf,
  createSubjectMarkTables,
  datasetOf,
  miscountedMarks,
  splitDatasets,
  splitMarks,
  subjectMarks,
} from '../testing/subject-marks.ts';
import { buildSubject, buildTogether } from './build-subjects.ts';
import { forgetUnrequested } from './maintain-projections.ts';
import { registerProjections } from './projection-record.ts';
import { createSubjectProjections } from './subject-projections.ts';

const scratch = scratchOfFile();
let nextChain = 930_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createSubjectMarkTables(scratch.database);
  await scratch.database.query(
    sql`ALTER ROLE CURRENT_USER IN DATABASE ${rawSql(new URL(scratch.url).pathname.slice(1))} SET deadlock_timeout = '20ms'`,
  );
});

async function waitingForLocks(): Promise<number> {
  const [row] = await scratch.database.query<{ sessions: number }>(
    sql`SELECT count(*)::int AS sessions FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM transaction_locks%'`,
  );
  return row?.sessions ?? 0;
}

async function withChain(
  rowsAtOnce: number,
  work: (marked: MarkedChain) => Promise<void>,
  [dataset, ...others]: readonly [Dataset, ...Dataset[]] = [datasetOf(1)],
): Promise<void> {
  const marked = await openMarkedChain(scratch.database, nextChain++, { rowsAtOnce, dataset, others });
  try {
    await work(marked);
  } finally {
    await marked.close();
  }
}

const ALL = { from: 1, to: LAST_BACKFILLED };
const someAsk = fc.record({
  account: fc.nat({ max: 9 }),
  pieces: fc.integer({ min: 1, max: 3 }),
  rows: fc.integer({ min: 1, max: 9 }),
});
/** Builds several accounts concurrently, in a process that may be killed after some statements. */
const someCrowd = fc.record({
  accounts: fc.uniqueArray(fc.nat({ max: 9 }), { minLength: 2, maxLength: 9 }),
  rows: fc.integer({ min: 8, max: 60 }),
  rowsOfOne: fc.integer({ min: 1, max: 6 }),
  dieAfter: fc.option(fc.nat({ max: 12 })),
});

/** Ignores the error of a killed process, which leaves its work unfinished. */
async function unlessKilled(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof KilledError)) throw error;
  });
}

// Invariant: SYNC-SUBJECT-ONCE
describe('the projection of subjects', () => {
  it(
    'adds up to their rows and no others’, whatever is written, removed, repaired and asked for meanwhile',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              steps: someMoment,
              asks: fc.array(someAsk, { maxLength: 3 }),
              crowds: fc.array(someCrowd, { maxLength: 2 }),
              upgrades: fc.boolean(),
            }),
            { minLength: 1, maxLength: 6 },
          ),
          fc.constantFrom(3, ROWS_AT_ONCE),
          fc.boolean(),
          (moments, rowsAtOnce, isSplit) => {
            const datasetsOf = (version: number): readonly [Dataset, ...Dataset[]] =>
              isSplit ? splitDatasets(version) : [datasetOf(version)];
            const work = async (marked: MarkedChain): Promise<void> => {
              await marked.take({ kind: 'backfill', range: { from: 5, to: 15 }, dropEvery: 3 });
              const accounts = await accountsOf(scratch.database, marked.chainId);
              let version = 1;
              const of = () => ({
                dataset: datasetsOf(version)[0],
                state: isSplit ? splitMarks(version) : subjectMarks(version),
              });
              for (const { steps, asks, crowds, upgrades } of moments) {
                if (upgrades) {
                  version++;
                  marked.use(...datasetsOf(version));
                  await registerProjections(scratch.database, marked.chain, datasetsOf(version));
                }
                const ask = async ({ account, pieces, rows }: (typeof asks)[number]): Promise<void> => {
                  const subject = accounts[account % accounts.length];
                  if (subject === undefined) return;
                  for (let piece = 0; piece < pieces; piece++)
                    await retryCommit(() => buildSubject(scratch.database, marked.chain, of(), subject, rows));
                };
                const fetchTogether = ({
                  accounts: places,
                  rows,
                  rowsOfOne,
                  dieAfter,
                }: (typeof crowds)[number]) => {
                  const subjects = places.flatMap((place) => accounts[place] ?? []);
                  const on = dieAfter === null ? scratch.database : dyingDatabase(scratch.database, dieAfter);
                  return unlessKilled(
                    retryCommit(() => buildTogether(on, marked.chain, of(), subjects, { rows, rowsOfOne })),
                  );
                };
                await Promise.all([
                  ...steps.map((step) => marked.take(step)),
                  ...asks.map(ask),
                  ...crowds.map(fetchTogether),
                ]);
                expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
              }
              await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
              await marked.take({ kind: 'verify', range: ALL });
              const kept = createSubjectProjections(scratch.database);
              const all = await accountsOf(scratch.database, marked.chainId);
              const [progress] = await Promise.all([
                Promise.all(
                  all.map((account) => waitingAtMost(60_000, () => kept.keep(marked.chain, of(), account))),
                ),
                marked.take({ kind: 'follow', blocks: 2 }),
              ]);
              expect(progress).toEqual(all.map(() => 'built'));
              await marked.take({ kind: 'reorg', depth: 1 });
              expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
            };
            return withChain(rowsAtOnce, work, datasetsOf(1));
          },
        ),
        { numRuns: atDepth(25) },
      );
    },
    atDepth(300_000),
  );

  it('follows what several datasets change of a block at once', async () => {
    await scratch.database.query(sql`CREATE TABLE kept_changes (chain_id bigint, marks bigint, places bigint)`);
    const [first, second] = splitDatasets(1);
    const state: SubjectProjection = {
      ...splitMarks(1),
      removed: ({ rows, remaining }) => [
        sql`INSERT INTO kept_changes SELECT max(chain_id), count(*), (SELECT count(*) FROM ${remaining} AS left_over WHERE left_over.chain_id = max(changed.chain_id))
          FROM ${rows} AS changed`,
      ],
    };
    const noting = [
      { ...first, projections: [state] },
      { ...second, projections: [state] },
    ] as const;
    const work = async (marked: MarkedChain): Promise<void> => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      await marked.take({ kind: 'follow', blocks: 4 });
      const [account] = await accountsOf(scratch.database, marked.chainId);
      if (account === undefined) throw new Error('No account has a mark');
      const projections = createSubjectProjections(scratch.database);
      await waitingAtMost(60_000, () => projections.keep(marked.chain, { dataset: second, state }, account));
      const marksIn = async (): Promise<number> => {
        const [row] = await scratch.database.query<{ marks: number }>(
          sql`SELECT count(*)::int AS marks FROM (TABLE marks UNION ALL TABLE more_marks) AS every WHERE chain_id = ${marked.chainId}`,
        );
        return row?.marks ?? 0;
      };
      const before = await marksIn();
      await marked.take({ kind: 'reorg', depth: 3 });
      const changes = await scratch.database.query<{ marks: number; places: number }>(
        sql`SELECT marks::int AS marks, places::int AS places FROM kept_changes WHERE chain_id = ${marked.chainId}`,
      );
      expect(changes).toHaveLength(1);
      expect((changes[0]?.marks ?? 0) + (changes[0]?.places ?? 0)).toBe(before);
    };
    await withChain(ROWS_AT_ONCE, work, noting);
  });

  it('costs nothing for subjects that nobody asked about', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      expect(
        await scratch.database.query(sql`SELECT FROM subject_marks WHERE chain_id = ${marked.chainId}`),
      ).toEqual([]);
    });
  });

  it('is forgotten once nobody has asked about them for long, and nothing else is', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      const kept = createSubjectProjections(scratch.database);
      const of = { dataset: datasetOf(1), state: subjectMarks(1) };
      const accounts = await accountsOf(scratch.database, marked.chainId);
      for (const account of accounts) await waitingAtMost(60_000, () => kept.keep(marked.chain, of, account));
      const [unrequested] = accounts;
      await scratch.database.query(
        sql`UPDATE subject_projections SET asked_at = now() - interval '31 days' WHERE chain_id = ${marked.chainId} AND subject = decode(${unrequested?.slice(2) ?? null}, 'hex')`,
      );
      expect(await forgetUnrequested(scratch.database, marked.chain, [of.dataset])).toBe(1);
      expect(await forgetUnrequested(scratch.database, marked.chain, [of.dataset])).toBe(0);
      const left = await scratch.database.query(
        sql`SELECT '0x' || encode(account, 'hex') AS account FROM subject_marks WHERE chain_id = ${marked.chainId} ORDER BY 1`,
      );
      expect(left).toEqual(accounts.slice(1).map((account) => ({ account })));
      await marked.take({ kind: 'follow', blocks: 2 });
      expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
    });
  });

  it('holds up commits with one subject at a time, however many are asked about at once', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      const kept = createSubjectProjections(scratch.database);
      const of = { dataset: datasetOf(1), state: subjectMarks(1) };
      const accounts = await accountsOf(scratch.database, marked.chainId);
      expect(accounts.length).toBeGreaterThan(5);
      const requested = await scratch.database.transaction(async (transaction) => {
        await lockChainCommits(transaction, marked.chain);
        const asking = accounts.map((account) =>
          waitingAtMost(60_000, () => kept.keep(marked.chain, of, account)),
        );
        await vi.waitFor(async () => expect(await waitingForLocks()).toBe(1));
        await sleep(200);
        expect(await waitingForLocks()).toBe(1);
        // Not awaited here: these builds wait for this transaction.
        return { asking };
      });
      expect(new Set(await Promise.all(requested.asking))).toEqual(new Set(['built']));
      expect(await miscountedMarks(scratch.database, marked.chainId)).toEqual([]);
    });
  });

  it('is told of reorganisations, in the transaction that takes the rows back', async () => {
    await scratch.database.query(
      sql`CREATE TABLE kept_rollbacks (chain_id bigint, ancestor bigint, marks bigint)`,
    );
    const state: SubjectProjection = {
      ...subjectMarks(1),
      rolledBack: (chainId, ancestor) => [
        sql`INSERT INTO kept_rollbacks SELECT ${chainId}::bigint, ${ancestor}::bigint, count(*) FROM marks WHERE chain_id = ${chainId} AND block_number > ${ancestor}`,
      ],
    };
    await withChain(ROWS_AT_ONCE, async (marked) => {
      marked.use({ ...datasetOf(1), projections: [state] });
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      await marked.take({ kind: 'follow', blocks: 4 });
      const reported = () =>
        scratch.database.query<{ ancestor: number; marks: number }>(
          sql`SELECT ancestor, marks FROM kept_rollbacks WHERE chain_id = ${marked.chainId}`,
        );
      expect(await reported()).toEqual([]);
      const [newest] = await scratch.database.query<{ head: number }>(
        sql`SELECT checkpoint AS head FROM sync_chains WHERE chain_id = ${marked.chainId}`,
      );
      await marked.take({ kind: 'reorg', depth: 2 });
      expect(await reported()).toEqual([{ ancestor: (newest?.head ?? 0) - 2, marks: 0 }]);
    });
  });

  it('is not built without its index', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      const [account] = await accountsOf(scratch.database, marked.chainId);
      if (account === undefined) throw new Error('No account has a mark');
      const marks = subjectMarks(1);
      const state = { ...marks, subjects: { ...marks.subjects, indexes: ['marks_by_account'] } };
      expect(await buildSubject(scratch.database, marked.chain, { dataset: datasetOf(1), state }, account)).toBe(
        'waiting',
      );
      const rows = await scratch.database.query(
        sql`SELECT FROM subject_projections WHERE chain_id = ${marked.chainId}`,
      );
      expect(rows).toEqual([]);
    });
  });
});
