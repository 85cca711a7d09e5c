import { atDepth, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROWS_AT_ONCE } from '../decoded-batch.ts';
import { LAST_BACKFILLED, type MarkedChain, openMarkedChain } from '../testing/marked-chain.ts';
import { createMarkTables, misderived } from '../testing/marks-dataset.ts';
import { someMoment } from '../testing/some-steps.ts';
import { lockChainCommits } from '../write-batch.ts';

let scratch: ScratchDatabase;
let nextChain = 900_001;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createMarkTables(scratch.database);
  // Steps at the same time wait for each other now and then; the test need not wait a second for Postgres to notice.
  await scratch.database.query(
    `ALTER ROLE CURRENT_USER IN DATABASE ${new URL(scratch.url).pathname.slice(1)} SET deadlock_timeout = '20ms'`,
  );
});
afterAll(() => scratch.drop());

const ALL = { from: 1, to: LAST_BACKFILLED };
/** Commits in many parts, and in one. */
const rowsAtOnce = fc.constantFrom(3, ROWS_AT_ONCE);
async function withChain(work: (marked: MarkedChain) => Promise<void>, rowsAtOnce = ROWS_AT_ONCE): Promise<void> {
  const marked = await openMarkedChain(scratch.database, nextChain++, { rowsAtOnce });
  try {
    await work(marked);
  } finally {
    await marked.close();
  }
}

async function storedMarks(chainId: number): Promise<string[]> {
  const rows = await scratch.database.query<{ mark: string }>(
    `SELECT concat_ws(' ', '0x' || encode(account, 'hex'), block_number, log_index, amount, '0x' || encode(block_hash, 'hex')) AS mark
       FROM marks WHERE chain_id = $1`,
    [chainId],
  );
  return rows.map(({ mark }) => mark).sort();
}

async function countLockWaits(): Promise<number> {
  const [found] = await scratch.database.query<{ waits: number }>(
    "SELECT count(*) AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return found?.waits ?? 0;
}

const countMarks = async (chainId: number): Promise<number> => (await storedMarks(chainId)).length;

describe('derived state', () => {
  it(
    'follows any history of backfill, follow, reorganisations, on-demand rows, reindex and repairs',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(someMoment, { minLength: 1, maxLength: 8 }), rowsAtOnce, (moments, atOnce) =>
          withChain(async (marked) => {
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
          }, atOnce),
        ),
        { numRuns: atDepth(25) },
      );
    },
    atDepth(300_000),
  );

  it('counts rows once that an on-demand history and the backfill both bring', async () => {
    await withChain(async (marked) => {
      await marked.take({ kind: 'subject', range: ALL, wallet: 0 });
      const early = await countMarks(marked.chainId);
      await marked.take({ kind: 'subject', range: ALL, wallet: 0 });
      expect(await countMarks(marked.chainId)).toBe(early);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      expect(await countMarks(marked.chainId)).toBeGreaterThan(early);
      expect(early).toBeGreaterThan(0);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
    });
  });

  it('counts the rows of a backfill that were written before anything followed them', async () => {
    await withChain(async (marked) => {
      const { database } = scratch;
      const records = await database.query('DELETE FROM derived_states WHERE chain_id = $1 RETURNING *', [
        marked.chainId,
      ]);
      expect(records.length).toBeGreaterThan(0);
      let filling: Promise<void> | undefined;
      await database.transaction(async (transaction) => {
        await lockChainCommits(transaction, marked.chain);
        filling = marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
        await expect.poll(countLockWaits).toBeGreaterThan(0);
        await transaction.query(
          'INSERT INTO derived_states SELECT * FROM json_populate_recordset(NULL::derived_states, $1)',
          [JSON.stringify(records)],
        );
      });
      await filling;
      expect(await countMarks(marked.chainId)).toBeGreaterThan(0);
      expect(await misderived(database, marked.chainId)).toEqual([]);
    });
  });

  it('follows repairs of what an upstream had left out', async () => {
    await withChain(async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 3 });
      const lacking = await countMarks(marked.chainId);
      await marked.take({ kind: 'verify', range: ALL });
      expect(await countMarks(marked.chainId)).toBeGreaterThan(lacking);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
    });
  });

  it('gives up what a reorganisation removes', async () => {
    await withChain(async (marked) => {
      await marked.take({ kind: 'follow', blocks: 8 });
      const before = await storedMarks(marked.chainId);
      await marked.take({ kind: 'reorg', depth: 6 });
      expect(await storedMarks(marked.chainId)).not.toEqual(before);
      expect(await misderived(scratch.database, marked.chainId)).toEqual([]);
    });
  });
});
