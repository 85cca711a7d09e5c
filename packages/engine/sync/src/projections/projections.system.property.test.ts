import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rawSql, sql } from '@chainstead/db';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { ROWS_AT_ONCE } from '../read/decoded-batch.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { LAST_BACKFILLED, type MarkedChain, openMarkedChain, type Step } from '../testing/marked-chain.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { build, buildAll, misderivedSoFar, someBuild } from '../testing/some-builds.ts';
import { someMoment } from '../testing/some-steps.ts';
import { readProjectionBuilds, readProjectionRecords, registerProjections } from './projection-record.ts';

/** The dataset in an earlier version: the same rows, no projections. */
const before: Dataset = { ...marks, projections: [] } as Dataset;
const now = marks as Dataset;
const nextVersion = {
  ...marks,
  projections: marks.projections?.map((state) => ({ ...state, version: 2 })),
} as Dataset;

const scratch = scratchOfFile();
let nextChain = 920_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await scratch.database.query(
    sql`ALTER ROLE CURRENT_USER IN DATABASE ${rawSql(new URL(scratch.url).pathname.slice(1))} SET deadlock_timeout = '20ms'`,
  );
});

/** Steps during a build; sometimes by a version without the projections. */
const during = fc.record({
  steps: someMoment,
  build: someBuild,
  byOther: fc.constantFrom(false, false, false, true),
});

/** Starts a process that builds piece by piece, and kills it during the next piece. */
async function killAfter(pieces: number, chainId: number): Promise<void> {
  const program = fileURLToPath(new URL('../testing/building-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, scratch.url, String(chainId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let done = 0;
  for await (const line of createInterface({ input: child.stdout }))
    if (line === 'piece' && ++done === pieces) child.kill('SIGKILL');
  await exited;
  expect(done).toBeGreaterThanOrEqual(pieces);
}

async function withChain(
  dataset: Dataset,
  work: (marked: MarkedChain) => Promise<void>,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<void> {
  const marked = await openMarkedChain(scratch.database, nextChain++, { dataset, rowsAtOnce });
  try {
    await work(marked);
  } finally {
    await marked.close();
  }
}

const ALL = { from: 1, to: LAST_BACKFILLED };
const BACKFILL: Step = { kind: 'backfill', range: ALL, dropEvery: 0 };
/** Commits in many parts, or in one. */
const someRowsAtOnce = fc.constantFrom(3, ROWS_AT_ONCE);

async function storedMarks(chainId: number): Promise<string[]> {
  const rows = await scratch.database.query<{ mark: string }>(
    sql`SELECT concat_ws(' ', '0x' || encode(account, 'hex'), block_number, log_index, amount, '0x' || encode(block_hash, 'hex')) AS mark
       FROM marks WHERE chain_id = ${chainId}`,
  );
  return rows.map(({ mark }) => mark).sort();
}

async function countLockWaits(): Promise<number> {
  const [found] = await scratch.database.query<{ waits: number }>(
    sql`SELECT count(*) AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return found?.waits ?? 0;
}

const countMarks = async (chainId: number): Promise<number> => (await storedMarks(chainId)).length;

// Invariant: SYNC-PROJECTIONS-EQUAL
describe('a projection', () => {
  it(
    'follows any history of backfill, follow, reorganisations, on-demand rows, reindex and repairs',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(someMoment, { minLength: 1, maxLength: 8 }),
          someRowsAtOnce,
          (moments, atOnce) =>
            withChain(
              now,
              async (marked) => {
                for (const steps of moments) {
                  await Promise.all(steps.map((step) => marked.take(step)));
                  expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
                }
                for (const step of [
                  { kind: 'backfill', range: ALL, dropEvery: 0 },
                  { kind: 'verify', range: ALL },
                  { kind: 'follow', blocks: 1 },
                ] as const)
                  await marked.take(step);
                expect(await storedMarks(marked.chainId)).toEqual(marked.truth());
                expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
              },
              atOnce,
            ),
        ),
        { numRuns: atDepth(25) },
      );
    },
    atDepth(300_000),
  );

  it('counts rows once that an on-demand history and the backfill both bring', async () => {
    await withChain(now, async (marked) => {
      await marked.take({ kind: 'subject', range: ALL, wallet: 0 });
      const early = await countMarks(marked.chainId);
      await marked.take({ kind: 'subject', range: ALL, wallet: 0 });
      expect(await countMarks(marked.chainId)).toBe(early);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
      await marked.take(BACKFILL);
      expect(await countMarks(marked.chainId)).toBeGreaterThan(early);
      expect(early).toBeGreaterThan(0);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
    });
  });

  it('counts the rows of a backfill that were written before anything followed them', async () => {
    await withChain(now, async (marked) => {
      const { database } = scratch;
      const records = await database.query<{ record: object }>(
        sql`DELETE FROM projections WHERE chain_id = ${marked.chainId} RETURNING to_json(projections) AS record`,
      );
      expect(records.length).toBeGreaterThan(0);
      let filling: Promise<void> | undefined;
      await database.transaction(async (transaction) => {
        await lockChainCommits(transaction, marked.chain);
        filling = marked.take(BACKFILL);
        await expect.poll(countLockWaits).toBeGreaterThan(0);
        await transaction.query(
          sql`INSERT INTO projections SELECT * FROM json_populate_recordset(NULL::projections, ${JSON.stringify(records.map(({ record }) => record))})`,
        );
      });
      await filling;
      expect(await countMarks(marked.chainId)).toBeGreaterThan(0);
      expect(await misderived(database, marked.chainId)).toEqual([]);
    });
  });

  it('follows repairs of what an upstream had left out', async () => {
    await withChain(now, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 3 });
      const lacking = await countMarks(marked.chainId);
      await marked.take({ kind: 'verify', range: ALL });
      expect(await countMarks(marked.chainId)).toBeGreaterThan(lacking);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
    });
  });

  // Invariant: SYNC-ROLLBACK-WHOLE
  it('gives up what a reorganisation removes', async () => {
    await withChain(now, async (marked) => {
      await marked.take({ kind: 'follow', blocks: 8 });
      const before = await storedMarks(marked.chainId);
      await marked.take({ kind: 'reorg', depth: 6 });
      expect(await storedMarks(marked.chainId)).not.toEqual(before);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
    });
  });
});

describe('a projection that is added to a database with rows', () => {
  it(
    'comes to what one is that was there from the beginning, whatever happens to the chain and the process meanwhile',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(someMoment, { maxLength: 2 }),
          fc.array(during, { minLength: 1, maxLength: 6 }),
          fc.array(someMoment, { maxLength: 1 }),
          (earlier, meanwhile, later) =>
            withChain(before, async (marked) => {
              await marked.take(BACKFILL);
              for (const steps of earlier) await Promise.all(steps.map((step) => marked.take(step)));
              for (const { steps, build: some, byOther } of meanwhile) {
                marked.use(byOther ? before : now);
                await registerProjections(scratch.database, marked.chain, [now]);
                await Promise.all([
                  ...steps.map((step) => marked.take(step)),
                  build(scratch.database, marked, now, some),
                ]);
                expect(await misderivedSoFar(scratch.database, marked)).toEqual([]);
              }
              marked.use(now);
              await buildAll(scratch.database, marked, now);
              expect(await misderived(scratch.database, marked.chain.id)).toEqual([]);
              for (const steps of later) {
                await Promise.all(steps.map((step) => marked.take(step)));
                expect(await misderived(scratch.database, marked.chain.id)).toEqual([]);
              }
            }),
        ),
        { numRuns: atDepth(12) },
      );
    },
    atDepth(300_000),
  );

  it(
    'goes on where it was when its process is killed',
    () =>
      withChain(before, async (marked) => {
        await marked.take(BACKFILL);
        await registerProjections(scratch.database, marked.chain, [now]);
        marked.use(now);
        for (const pieces of [3, 6]) {
          await killAfter(pieces, marked.chainId);
          expect(await misderivedSoFar(scratch.database, marked)).toEqual([]);
          await marked.take({ kind: 'reindex', range: ALL, dropEvery: pieces });
          expect(await misderivedSoFar(scratch.database, marked)).toEqual([]);
        }
        await buildAll(scratch.database, marked, now);
        expect(await misderived(scratch.database, marked.chain.id)).toEqual([]);
      }),
    150_000,
  );

  it('says how far it is', () =>
    withChain(before, async (marked) => {
      await marked.take(BACKFILL);
      await registerProjections(scratch.database, marked.chain, [now]);
      const builds = async () =>
        (await readProjectionBuilds(scratch.database, marked.chain.id)).map(({ state, status, part }) => [
          state,
          status,
          part,
        ]);
      expect(await builds()).toEqual([
        ['mark-highest', 'clearing', 0],
        ['mark-totals', 'clearing', 0],
      ]);
      await build(scratch.database, marked, now, {
        pieces: 2,
        blocks: LAST_BACKFILLED / 2,
        killed: false,
        pages: 1_000,
        rows: 1_000,
      });
      const [, [, status, part] = []] = await builds();
      expect(status).toBe('building');
      expect(part).toBeGreaterThan(0.4);
      expect(part).toBeLessThan(1);
      await buildAll(scratch.database, marked, now);
      expect(await builds()).toEqual([
        ['mark-highest', 'built', 1],
        ['mark-totals', 'built', 1],
      ]);
    }));
});

describe('a projection that has changed', () => {
  it('is emptied, page by page, and built anew', () =>
    withChain(now, async (marked) => {
      await marked.take(BACKFILL);
      const untouched = await openMarkedChain(scratch.database, nextChain++, { dataset: now });
      await untouched.take(BACKFILL);
      expect(await misderived(scratch.database, marked.chain.id)).toEqual([]);
      // Values of the earlier version must not remain.
      await scratch.database.query(
        sql`UPDATE mark_totals SET total = total + 1 WHERE chain_id = ${marked.chain.id}`,
      );
      await scratch.database.query(
        sql`INSERT INTO mark_totals SELECT sha256(n::text::bytea), ${marked.chain.id}, 1, 1 FROM generate_series(1, 500) AS n`,
      );
      marked.use(nextVersion);
      await buildAll(scratch.database, marked, nextVersion);
      expect(await misderived(scratch.database, marked.chain.id)).toEqual([]);
      expect(await misderived(scratch.database, untouched.chain.id)).toEqual([]);
      await untouched.close();
    }));

  it('is built at once on a chain that has no blocks', () =>
    withChain(nextVersion, async (marked) => {
      expect(
        (await readProjectionRecords(scratch.database, marked.chain.id)).map(({ version, progress }) => [
          version,
          progress,
        ]),
      ).toEqual([
        [2, { status: 'built' }],
        [2, { status: 'built' }],
      ]);
    }));
});
