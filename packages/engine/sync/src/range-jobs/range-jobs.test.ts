import { ChainsteadError, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { DatabaseUnavailableError, sql } from '@chainstead/db';
import { createDueWork } from '@chainstead/jobs/worker';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { type PerformRangeWork, performRangeWork } from './perform-range-work.ts';
import type { RangeJob, RangeJobRequest } from './range-job.ts';
import { cancelRangeJob, listRangeJobs, readRangeJobPace, requestRangeJob } from './range-job-store.ts';
import { addRangeJobs, type RangeJobSite } from './run-range-job.ts';

const scratch = scratchOfFile();
beforeAll(async () => {
  await createMarkTables(scratch.database);
});
beforeEach(() => scratch.database.query(sql`TRUNCATE range_jobs`));

const RANGE = { from: 1, to: 100 };
const ask = (request: Partial<RangeJobRequest>): Promise<string> =>
  scratch.database.transaction((transaction) =>
    requestRangeJob(transaction, {
      chain: '7',
      work: 'backfill',
      dataset: null,
      ranges: [RANGE],
      requestedBy: 'Ann',
      ...request,
    }),
  );
const cancel = (id: string): Promise<RangeJob> =>
  scratch.database.transaction((transaction) => cancelRangeJob(transaction, id));
const jobOf = async (id: string): Promise<RangeJob> => {
  const job = (await listRangeJobs(scratch.database, { limit: 1_000 })).find((one) => one.id === id);
  if (job === undefined) throw new TypeError(`There is no job ${id}`);
  return job;
};
const reaches = (id: string, expected: object): Promise<void> =>
  vi.waitFor(async () => expect(await jobOf(id)).toMatchObject(expected), { timeout: 30_000, interval: 20 });

/** Starts a worker that runs jobs until the test ends. */
function work(...sites: readonly RangeJobSite[]): { stop(): Promise<void> } {
  const { database } = scratch;
  const shared = { database, clock: systemClock, logger: silentLogger() };
  const dueWork = createDueWork({ ...shared, metrics: createMetricsRegistry(), sweepEveryMs: 20 });
  addRangeJobs(dueWork, { ...shared, sites });
  dueWork.start();
  const stop = (): Promise<void> => dueWork.close(0);
  onTestFinished(stop);
  return { stop };
}

function siteOf(perform: PerformRangeWork, chain = '7'): RangeJobSite {
  return { chain, name: `chain-${chain}`, open: async () => ({ perform, close: async () => undefined }) };
}

/** Makes no further progress until its signal aborts. */
const hanging: PerformRangeWork = (_job, ranges, report, signal) => {
  report({ done: 5, total: 10, logs: 3 });
  return new Promise((_resolve, reject) => {
    expect(ranges.length).toBeGreaterThan(0);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
};
const doing: PerformRangeWork = async () => ({ logs: 1, outcome: null, lacking: null });

describe('jobs on ranges', () => {
  test('backfill, verify and read anew as the commands do, and tell how far they are', async () => {
    const stage = await openScriptedStage(scratch.database, 966_001, [marks], { blocks: 400, upstreams: 2 });
    onTestFinished(() => stage.close());
    const chain = String(stage.chain.id);
    const perform = performRangeWork({ ...stage, proof: 'strict', backfillProof: 'none' });
    work(siteOf(perform, chain));
    const backfilled = await ask({ chain });
    await reaches(backfilled, { status: 'done', done: 100, total: 100, error: null });
    expect((await stage.coverageOf(marks)).ranges).toEqual([RANGE]);
    expect(await stage.marksOf(1, 100)).toMatchObject({ stored: expect.any(Number) });
    const verified = await ask({ chain, work: 'verify', dataset: marks.name });
    await reaches(verified, {
      status: 'done',
      done: 100,
      outcome: { levels: { receipts: 100 }, repairs: 0, uncovered: 0 },
    });
    const again = await ask({ chain, work: 'reindex' });
    await reaches(again, { status: 'done', done: 100, total: 100 });
    const { stored, expected } = await stage.marksOf(1, 100);
    expect(stored).toBe(expected);
    const incomplete = await ask({ chain, work: 'verify', ranges: [{ from: 90, to: 110 }] });
    await reaches(incomplete, { status: 'failed', error: { code: 'VERIFICATION_INCOMPLETE' } });
    expect((await jobOf(incomplete)).error?.message).toContain('10 are not indexed');
    const beyond = await ask({ chain, ranges: [{ from: 1, to: 1_000_000 }] });
    await reaches(beyond, { status: 'failed', error: { code: 'RANGE_NOT_FINAL' } });
    const unkept = await ask({ chain, dataset: 'nfts' });
    await reaches(unkept, { status: 'failed', error: { code: 'DATASET_NOT_KEPT' } });
    expect(await scratch.database.query(sql`SELECT * FROM sync_claims`)).toEqual([]);
  });

  test('are done once, one at a time of a chain, however many processes look', async () => {
    let atOnce = 0;
    let most = 0;
    const done: number[] = [];
    const perform: PerformRangeWork = async (_job, ranges) => {
      most = Math.max(most, ++atOnce);
      await systemClock.sleep(5);
      atOnce -= 1;
      done.push(ranges[0]?.from ?? -1);
      return { logs: 0, outcome: null, lacking: null };
    };
    const ids: string[] = [];
    for (let from = 0; from < 6; from++) ids.push(await ask({ ranges: [{ from, to: from }] }));
    for (let process = 0; process < 3; process++) work(siteOf(perform));
    for (const id of ids) await reaches(id, { status: 'done' });
    expect(done).toEqual([0, 1, 2, 3, 4, 5]);
    expect(most).toBe(1);
  });

  test('go on where the process was that died', async () => {
    const pieces: unknown[] = [];
    const perform: PerformRangeWork = async (_job, ranges) => {
      pieces.push(...ranges);
      return { logs: 1, outcome: { levels: { receipts: 10 }, repairs: 0, uncovered: 0 }, lacking: null };
    };
    const id = await ask({ work: 'verify', ranges: [{ from: 0, to: 2_999 }] });
    await scratch.database.query(
      sql`UPDATE range_jobs SET lease_until = now() - interval '1 second', holder = 'dead', position = 2048, outcome = '{"levels":{"receipts":20,"cross":1},"repairs":2,"uncovered":0}'`,
    );
    work(siteOf(perform));
    await reaches(id, {
      status: 'done',
      done: 3_000,
      outcome: { levels: { receipts: 30, cross: 1 }, repairs: 2, uncovered: 0 },
    });
    expect(pieces).toEqual([{ from: 2_048, to: 2_999 }]);
  });

  test('wait for the next process where theirs ends, without counting that as a failure', async () => {
    const id = await ask({});
    const first = work(siteOf(hanging));
    await reaches(id, { status: 'running', done: 5, total: 10, logs: 3, holder: expect.any(String) });
    await first.stop();
    expect(await jobOf(id)).toMatchObject({ status: 'queued', done: 5, dueAt: null, error: null, holder: null });
    work(siteOf(doing));
    await reaches(id, { status: 'done' });
  });

  test('are cancelled at once where nobody works on them, else within seconds', async () => {
    const waiting = await ask({});
    expect(await cancel(waiting)).toMatchObject({ status: 'cancelled' });
    await expect(cancel(waiting)).rejects.toMatchObject({ code: 'RANGE_JOB_UNKNOWN' });
    const abandoned = await ask({});
    await scratch.database.query(
      sql`UPDATE range_jobs SET lease_until = now() - interval '1 second' WHERE id = ${abandoned}`,
    );
    expect(await cancel(abandoned)).toMatchObject({ status: 'cancelled' });
    const running = await ask({});
    work(siteOf(hanging));
    await reaches(running, { status: 'running' });
    expect(await cancel(running)).toMatchObject({ status: 'running', isEnding: true });
    await reaches(running, { status: 'cancelled', finishedAt: expect.any(Date), error: null });
  });

  test('are tried again after what may pass, and fail in words by what may not', async () => {
    const failure =
      (retryable: boolean): PerformRangeWork =>
      async () => {
        throw new ChainsteadError({
          code: 'TEST',
          message: 'The node was away',
          remedy: 'Look at it',
          retryable,
        });
      };
    const passing = await ask({});
    const first = work(siteOf(failure(true)));
    await reaches(passing, { status: 'queued', dueAt: expect.any(Date), error: { code: 'TEST' } });
    await first.stop();
    await scratch.database.query(sql`UPDATE range_jobs SET due_at = now(), attempts = 5`);
    const second = work(siteOf(failure(true)));
    await reaches(passing, { status: 'failed', error: { message: 'The node was away. Look at it' } });
    const lasting = await ask({ work: 'reindex' });
    await second.stop();
    work(siteOf(failure(false)));
    await reaches(lasting, { status: 'failed', finishedAt: expect.any(Date) });
  });

  test('an outage is an attempt, and the job waits for the next one', async () => {
    let attempts = 0;
    const id = await ask({});
    work(
      siteOf(async () => {
        attempts += 1;
        throw new DatabaseUnavailableError('has no free connection', '53300', new Error('too many clients'));
      }),
    );
    await reaches(id, { status: 'queued', error: { code: 'DATABASE_UNAVAILABLE' }, dueAt: expect.any(Date) });
    expect(attempts).toBe(1);
  });

  test('a cancelled job has neither a holder nor a next attempt', async () => {
    const id = await ask({});
    await scratch.database.query(
      sql`UPDATE range_jobs SET holder = 'gone', lease_until = now() - interval '1 second', due_at = now() + interval '1 hour'`,
    );
    expect(await cancel(id)).toMatchObject({ status: 'cancelled', dueAt: null });
    const rows = await scratch.database.query(sql`SELECT holder, lease_until, due_at FROM range_jobs`);
    expect(rows).toEqual([{ holder: null, leaseUntil: null, dueAt: null }]);
  });

  test('are given up when processes end with them again and again', async () => {
    const id = await ask({});
    await scratch.database.query(sql`UPDATE range_jobs SET lease_until = now(), attempts = 6`);
    work(siteOf(doing));
    await reaches(id, { status: 'failed', error: { code: 'RANGE_JOB_ABANDONED' } });
  });

  test('are refused where the same is under way, or too many are', async () => {
    const id = await ask({});
    await expect(ask({})).rejects.toMatchObject({ code: 'RANGE_JOB_KNOWN', facts: { id } });
    const others = Array.from({ length: 105 }, (_, from) => ask({ ranges: [{ from, to: from }] }));
    const outcomes = await Promise.allSettled(others);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(99);
    await expect(ask({ chain: '8' })).rejects.toMatchObject({ code: 'RANGE_JOBS_FULL' });
  });

  test('are listed from the newest on, by state and chain, with the pace of those before', async () => {
    const first = await ask({});
    await scratch.database.query(
      sql`UPDATE range_jobs SET status = 'done', done = 600, taken_at = now() - interval '60 seconds', updated_at = now()`,
    );
    const second = await ask({});
    const third = await ask({ chain: '8' });
    const ids = async (requested: object): Promise<string[]> =>
      (await listRangeJobs(scratch.database, { limit: 2, ...requested })).map(({ id }) => id);
    expect(await ids({})).toEqual([third, second]);
    expect(await ids({ before: second })).toEqual([first]);
    expect(await ids({ state: 'finished' })).toEqual([first]);
    expect(await ids({ state: 'open', chain: '8' })).toEqual([third]);
    expect(await readRangeJobPace(scratch.database, '7', 'backfill')).toBeCloseTo(10);
    expect(await readRangeJobPace(scratch.database, '7', 'verify')).toBeNull();
  });
});
