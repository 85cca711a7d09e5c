import {
  ChainsteadError,
  type Clock,
  errorText,
  type Logger,
  rangeSize,
  sleepUnlessAborted,
} from '@chainstead/core';
import { type Database, failureLevel, isOutage, outageOr } from '@chainstead/db';
import { backoffSeconds, type Claim, failDue } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import type { PerformRangeWork, PieceProgress, PieceResult } from './perform-range-work.ts';
import {
  piecesOf,
  RangeJobAbandonedError,
  VerificationIncompleteError,
  type VerifyOutcome,
} from './range-job.ts';
import {
  ALL_CHAINS,
  DUE_RANGE_JOB_COLUMNS,
  type DueRangeJob,
  dueRangeJobs,
  endRangeJob,
  RANGE_JOB_WORK,
  type RangeJobProgress,
  saveRangeJob,
} from './range-job-store.ts';

export interface RangeJobSite {
  readonly chain: string;
  readonly name: string;
  /** For one job. Must end when the signal aborts. */
  open(signal: AbortSignal): Promise<{ readonly perform: PerformRangeWork; close(): Promise<void> }>;
}

export interface RangeJobsOptions {
  readonly database: Database;
  readonly sites: readonly RangeJobSite[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const REPORT_MS = 1_000;
const LEASE_MS = 7_000;
/** A job that waits for a retry is not the first of its chain before it is due. */
const SWEEP_EVERY_MS = 2_000;
const ATTEMPTS_MAX = 6;
const RETRY_SECONDS = { base: 15, max: 600 } as const;

/** One job at a time per process, and one per chain across all processes. */
export function addRangeJobs(dueWork: Pick<DueWork, 'add'>, options: RangeJobsOptions): void {
  const { database, logger } = options;
  const sites = new Map(options.sites.map((site) => [site.chain, site]));
  const table = dueRangeJobs([...sites.keys()]);
  let attempts = 0;

  async function run(claim: Claim<DueRangeJob>, site: RangeJobSite, signal: AbortSignal): Promise<void> {
    const job = claim.row;
    const fields = { job: job.id, chain: site.name, work: job.work };
    attempts = claim.attempts;
    if (job.isCancelled) return endRangeJob(database, table, claim, 'cancelled');
    if (attempts > ATTEMPTS_MAX) throw new RangeJobAbandonedError(job.id, attempts - 1);
    const state = createState(job);
    const save = (): Promise<boolean> => saveRangeJob(database, table, claim, state.progress());
    const cancelled = new AbortController();
    const stopReporting = beginReporting(options, job.id, save, cancelled);
    logger.info(fields, 'Range job started');
    let end: RangeJobEnd | 'cancelled';
    try {
      end = await performAll(site, job, state, AbortSignal.any([signal, cancelled.signal]));
    } catch (error) {
      if (!cancelled.signal.aborted) throw error;
      end = 'cancelled';
    } finally {
      if (state.progress().done > job.done) attempts = 1;
      await stopReporting();
      await save();
    }
    if (typeof end === 'string') await endRangeJob(database, table, claim, end);
    else await failDue(database, table, claim, { error: end, retrySeconds: null });
    const outcome = typeof end === 'string' ? { status: end } : { status: 'failed', error: errorText(end) };
    logger.info({ ...fields, ...outcome }, 'Work on ranges has ended');
  }

  dueWork.add<DueRangeJob>({
    name: RANGE_JOB_WORK,
    chain: ALL_CHAINS,
    table,
    returning: DUE_RANGE_JOB_COLUMNS,
    concurrency: 1,
    sweepEveryMs: SWEEP_EVERY_MS,
    leaseMs: LEASE_MS,
    countsOutages: true,
    async perform(claims, signal) {
      for (const claim of claims) {
        const site = sites.get(claim.row.chain);
        if (site !== undefined) await run(claim, site, signal);
      }
    },
    retrySeconds(_claim, error) {
      const mayPass = isOutage(outageOr(error)) || (error instanceof ChainsteadError && error.retryable);
      return mayPass && attempts < ATTEMPTS_MAX ? backoffSeconds(attempts, RETRY_SECONDS) : null;
    },
  });
}

/** An error here ends the job; one that is thrown may lead to a retry. */
type RangeJobEnd = 'done' | ChainsteadError;

async function performAll(
  site: RangeJobSite,
  job: DueRangeJob,
  state: JobState,
  signal: AbortSignal,
): Promise<RangeJobEnd> {
  const { perform, close } = await site.open(signal);
  let lacking: ChainsteadError | null = null;
  try {
    for (const piece of piecesOf(job.work, job.ranges, job.position)) {
      signal.throwIfAborted();
      const result = await perform(job, piece, state.report, signal);
      state.finish(piece.at(-1)?.to ?? 0, result);
      lacking ??= result.lacking;
    }
  } finally {
    await close();
  }
  if (lacking !== null) return lacking;
  const outcome = state.progress().outcome;
  const { unproven = 0, record = 0 } = outcome?.levels ?? {};
  return outcome !== null && unproven + record + outcome.uncovered > 0
    ? new VerificationIncompleteError(site.name, unproven + record, outcome.uncovered)
    : 'done';
}

type JobState = ReturnType<typeof createState>;

function createState(job: DueRangeJob) {
  const isBackfill = job.work === 'backfill';
  const all = job.ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  let { done, logs, position, outcome } = job;
  let total = job.total ?? all;
  let piece: PieceProgress | null = null;
  const blocksBelow = (block: number): number =>
    job.ranges.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, block - 1) - from + 1), 0);
  if (!isBackfill) {
    done = position === null ? 0 : blocksBelow(position);
    total = all;
  }

  return {
    report(progress: PieceProgress): void {
      piece = progress;
      if (isBackfill) [done, total] = [job.done + progress.done, job.done + progress.total];
    },
    finish(last: number, result: PieceResult): void {
      piece = null;
      logs += result.logs;
      outcome = result.outcome === null ? outcome : joined(outcome, result.outcome);
      if (isBackfill) {
        done = total = Math.max(done, result.lacking === null ? total : done);
        return;
      }
      position = last + 1;
      done = blocksBelow(position);
    },
    progress: (): RangeJobProgress => ({
      done: isBackfill ? done : done + finishedIn(piece, job, position),
      total,
      logs: logs + (piece?.logs ?? 0),
      position,
      outcome,
    }),
  };
}

/** A piece's progress may count a block several times. */
function finishedIn(piece: PieceProgress | null, job: DueRangeJob, position: number | null): number {
  if (piece === null || piece.total === 0) return 0;
  const [next = []] = piecesOf(job.work, job.ranges, position);
  const blocks = next.reduce((sum, range) => sum + rangeSize(range), 0);
  return Math.floor((blocks * piece.done) / piece.total);
}

function joined(before: VerifyOutcome | null, added: VerifyOutcome): VerifyOutcome {
  if (before === null) return added;
  const levels = { ...before.levels };
  for (const [level, blocks] of Object.entries(added.levels)) levels[level] = (levels[level] ?? 0) + blocks;
  return { levels, repairs: before.repairs + added.repairs, uncovered: before.uncovered + added.uncovered };
}

function beginReporting(
  { clock, logger }: RangeJobsOptions,
  id: DueRangeJob['id'],
  save: () => Promise<boolean>,
  cancelled: AbortController,
): () => Promise<void> {
  const ended = new AbortController();
  const work = async (): Promise<void> => {
    for (;;) {
      await sleepUnlessAborted(clock, REPORT_MS, ended.signal);
      if (ended.signal.aborted) return;
      try {
        if (await save()) cancelled.abort(new Error('The job was cancelled'));
      } catch (error) {
        logger[failureLevel(error)](
          { job: id, error: errorText(error) },
          'How far a job is could not be written down',
        );
      }
    }
  };
  const working = work();
  return () => {
    ended.abort();
    return working;
  };
}
