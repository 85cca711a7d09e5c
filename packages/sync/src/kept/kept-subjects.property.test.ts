import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { retryDeadlock } from '../commit-retry.ts';
import type { Dataset, KeptState } from '../dataset.ts';
import { ROWS_AT_ONCE } from '../decoded-batch.ts';
import { registerDerivedStates } from '../derived/derived-record.ts';
import { LAST_BACKFILLED, type MarkedChain, openMarkedChain } from '../testing/marked-chain.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { someMoment } from '../testing/some-steps.ts';
import { lockChainCommits } from '../write-batch.ts';
import { buildKeptPiece } from './build-kept.ts';
import { forgetUnasked } from './forget-unasked.ts';
import { createKeptSubjects } from './keep-subject.ts';

let scratch: ScratchDatabase;
let nextChain = 930_001;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createMarkTables(scratch.database);
  await scratch.database.query(
    'CREATE TABLE kept_marks (account bytea, chain_id bigint, marks bigint NOT NULL, total numeric NOT NULL, PRIMARY KEY (account, chain_id))',
  );
  await scratch.database.query(
    `ALTER ROLE CURRENT_USER IN DATABASE ${new URL(scratch.url).pathname.slice(1)} SET deadlock_timeout = '20ms'`,
  );
});
afterAll(() => scratch.drop());

const sums = (rows: string, kept: string, sign: '+' | '-'): string =>
  `INSERT INTO kept_marks SELECT account, chain_id, ${sign}count(*), ${sign}sum(amount) FROM ${rows} AS changed
     JOIN ${kept} AS kept ON kept.subject = account AND changed.block_number <= kept.built_to GROUP BY account, chain_id ORDER BY account
   ON CONFLICT (account, chain_id) DO UPDATE SET marks = kept_marks.marks + excluded.marks, total = kept_marks.total + excluded.total`;

const keptMarks = (version: number): KeptState => ({
  name: 'kept-marks',
  version,
  tables: [{ name: 'kept_marks', subject: 'account' }],
  rowsOf: (account) => [`account = '\\x${account.slice(2)}'::bytea`],
  indexes: ['marks_pkey'],
  added: (rows, kept) => [sums(rows, kept, '+')],
  removed: (rows, kept) => [sums(rows, kept, '-')],
});

const datasetOf = (version: number): Dataset => ({ ...marks, derived: [], kept: [keptMarks(version)] }) as Dataset;

/** What differs from what the rows of the kept subjects add up to. */
async function misKept(chainId: number): Promise<string[]> {
  const differences = await scratch.database.query<{ difference: string }>(
    `WITH held AS (SELECT account, marks, total FROM kept_marks WHERE chain_id = $1 AND (marks <> 0 OR total <> 0)),
          subjects AS (SELECT subject, coalesce(built_to, 1000000) AS built_to FROM kept_subjects WHERE chain_id = $1 AND NOT is_stale),
          truth AS (SELECT account, count(*), sum(amount) FROM marks JOIN subjects ON subject = account AND block_number <= built_to
            WHERE chain_id = $1 GROUP BY account)
     SELECT 'surplus ' || s::text AS difference FROM (TABLE held EXCEPT ALL TABLE truth) AS s
       WHERE s.account NOT IN (SELECT subject FROM kept_subjects WHERE chain_id = $1 AND is_stale)
     UNION ALL SELECT 'missing ' || m::text FROM (TABLE truth EXCEPT ALL TABLE held) AS m`,
    [chainId],
  );
  return differences.map(({ difference }) => difference);
}

async function waitingForLocks(): Promise<number> {
  const [row] = await scratch.database.query<{ sessions: number }>(
    `SELECT count(*)::int AS sessions FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM locks%'`,
  );
  return row?.sessions ?? 0;
}

async function accountsOf({ chainId }: MarkedChain): Promise<Address[]> {
  const rows = await scratch.database.query<{ account: Address }>(
    `SELECT DISTINCT '0x' || encode(account, 'hex') AS account FROM marks WHERE chain_id = $1 ORDER BY 1`,
    [chainId],
  );
  return rows.map(({ account }) => account);
}

async function withChain(rowsAtOnce: number, work: (marked: MarkedChain) => Promise<void>): Promise<void> {
  const marked = await openMarkedChain(scratch.database, nextChain++, { rowsAtOnce, dataset: datasetOf(1) });
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

describe('what is kept of subjects', () => {
  it('adds up to their rows and no others’, whatever is written, removed, repaired and asked for meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ steps: someMoment, asks: fc.array(someAsk, { maxLength: 3 }), upgrades: fc.boolean() }), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.constantFrom(3, ROWS_AT_ONCE),
        (moments, rowsAtOnce) =>
          withChain(rowsAtOnce, async (marked) => {
            await marked.take({ kind: 'backfill', range: { from: 5, to: 15 }, dropEvery: 3 });
            const accounts = await accountsOf(marked);
            let version = 1;
            for (const { steps, asks, upgrades } of moments) {
              if (upgrades) {
                version++;
                marked.use(datasetOf(version));
                await registerDerivedStates(scratch.database, marked.chain, [datasetOf(version)]);
              }
              const dataset = datasetOf(version);
              const ask = async ({ account, pieces, rows }: (typeof asks)[number]): Promise<void> => {
                const subject = accounts[account % accounts.length];
                if (subject === undefined) return;
                for (let piece = 0; piece < pieces; piece++)
                  await retryDeadlock(() =>
                    buildKeptPiece(
                      scratch.database,
                      marked.chain,
                      { dataset, state: keptMarks(version) },
                      subject,
                      rows,
                    ),
                  );
              };
              await Promise.all([...steps.map((step) => marked.take(step)), ...asks.map(ask)]);
              expect(await misKept(marked.chainId)).toEqual([]);
            }
            await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
            await marked.take({ kind: 'verify', range: ALL });
            const kept = createKeptSubjects(scratch.database);
            const of = { dataset: datasetOf(version), state: keptMarks(version) };
            for (const account of await accountsOf(marked))
              expect(await kept.keep(marked.chain, of, account, 60_000)).toBe('built');
            await marked.take({ kind: 'follow', blocks: 2 });
            expect(await misKept(marked.chainId)).toEqual([]);
          }),
      ),
      { numRuns: 25 },
    );
  }, 300_000);

  it('costs nothing for subjects that nobody asked about', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      expect(await scratch.database.query('SELECT FROM kept_marks WHERE chain_id = $1', [marked.chainId])).toEqual([]);
    });
  });

  it('is forgotten once nobody has asked about them for long, and nothing else is', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      const kept = createKeptSubjects(scratch.database);
      const of = { dataset: datasetOf(1), state: keptMarks(1) };
      const accounts = await accountsOf(marked);
      for (const account of accounts) await kept.keep(marked.chain, of, account, 60_000);
      const [unasked] = accounts;
      await scratch.database.query(
        `UPDATE kept_subjects SET asked_at = now() - interval '31 days' WHERE chain_id = $1 AND subject = decode($2, 'hex')`,
        [marked.chainId, unasked?.slice(2)],
      );
      expect(await forgetUnasked(scratch.database, marked.chain, [of.dataset])).toBe(1);
      expect(await forgetUnasked(scratch.database, marked.chain, [of.dataset])).toBe(0);
      const left = await scratch.database.query(
        `SELECT '0x' || encode(account, 'hex') AS account FROM kept_marks WHERE chain_id = $1 ORDER BY 1`,
        [marked.chainId],
      );
      expect(left).toEqual(accounts.slice(1).map((account) => ({ account })));
      await marked.take({ kind: 'follow', blocks: 2 });
      expect(await misKept(marked.chainId)).toEqual([]);
    });
  });

  it('holds up commits with one subject at a time, however many are asked about at once', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      const kept = createKeptSubjects(scratch.database);
      const of = { dataset: datasetOf(1), state: keptMarks(1) };
      const accounts = await accountsOf(marked);
      expect(accounts.length).toBeGreaterThan(5);
      const asked = await scratch.database.transaction(async (transaction) => {
        await lockChainCommits(transaction, marked.chain);
        const asking = accounts.map((account) => kept.keep(marked.chain, of, account, 60_000));
        await vi.waitFor(async () => expect(await waitingForLocks()).toBe(1), { timeout: 10_000 });
        await sleep(200);
        expect(await waitingForLocks()).toBe(1);
        // Not to be awaited in here: they wait for this transaction.
        return { asking };
      });
      expect(new Set(await Promise.all(asked.asking))).toEqual(new Set(['built']));
      expect(await misKept(marked.chainId)).toEqual([]);
    });
  });

  it('is told of reorganisations, in the transaction that takes the rows back', async () => {
    await scratch.database.query('CREATE TABLE kept_rollbacks (chain_id bigint, ancestor bigint, marks bigint)');
    const state: KeptState = {
      ...keptMarks(1),
      rolledBack: (chainId, ancestor) => [
        `INSERT INTO kept_rollbacks SELECT ${chainId}, ${ancestor}, count(*) FROM marks WHERE chain_id = ${chainId} AND block_number > ${ancestor}`,
      ],
    };
    await withChain(ROWS_AT_ONCE, async (marked) => {
      marked.use({ ...datasetOf(1), kept: [state] });
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      await marked.take({ kind: 'follow', blocks: 4 });
      const told = () =>
        scratch.database.query<{ ancestor: number; marks: number }>(
          'SELECT ancestor, marks FROM kept_rollbacks WHERE chain_id = $1',
          [marked.chainId],
        );
      expect(await told()).toEqual([]);
      const [newest] = await scratch.database.query<{ head: number }>(
        'SELECT checkpoint AS head FROM sync_chains WHERE chain_id = $1',
        [marked.chainId],
      );
      await marked.take({ kind: 'reorg', depth: 2 });
      expect(await told()).toEqual([{ ancestor: (newest?.head ?? 0) - 2, marks: 0 }]);
    });
  });

  it('is not built without its index', async () => {
    await withChain(ROWS_AT_ONCE, async (marked) => {
      await marked.take({ kind: 'backfill', range: ALL, dropEvery: 0 });
      const [account] = await accountsOf(marked);
      if (account === undefined) throw new Error('No account has a mark');
      const state = { ...keptMarks(1), indexes: ['marks_by_account'] };
      expect(await buildKeptPiece(scratch.database, marked.chain, { dataset: datasetOf(1), state }, account)).toBe(
        'waiting',
      );
      const rows = await scratch.database.query('SELECT FROM kept_subjects WHERE chain_id = $1', [marked.chainId]);
      expect(rows).toEqual([]);
    });
  });
});
