import { ChainsteadError, type Clock, errorText, type Logger, rangeSize, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { piecesOf } from './job-pieces.ts';
import type { PerformRangeWork, PieceProgress, PieceResult } from './perform-range-work.ts';
import { type RangeJob, VerificationIncompleteError, type VerifyOutcome } from './range-job.ts';
import { ATTEMPTS_MAX, type RangeJobEnd, type RangeJobProgress, type RangeJobRecord } from './range-job-record.ts';
import type { StoredRangeJob } from './range-job-store.ts';

export interface RangeJobSite {
  readonly chain: string;
  readonly name: string;
  /** For one job. Must end when the signal aborts. */
  open(signal: AbortSignal): Promise<{ readonly perform: PerformRangeWork; close(): Promise<void> }>;
}

interface RunRangeJobOptions {
  readonly site: RangeJobSite;
  readonly record: RangeJobRecord;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lost: AbortSignal;
}

const REPORT_MS = 1_000;
/** Doubled for each further retry. */
const WAIT_SECONDS = 15;
const WAIT_SECONDS_MAX = 600;

/** If the signal aborts, the job is queued again. Never rejects. */
export async function runRangeJob(options: RunRangeJobOptions, job: StoredRangeJob, signal: AbortSignal) {
  const { record, lost, logger } = options;
  const fields = { job: job.id, chain: options.site.name, work: job.work };
  const state = createState(job);
  const cancelled = new AbortController();
  const stopReporting = beginReporting(options, job.id, state, cancelled);
  logger.info(fields, 'Range job started');
  let end: RangeJobEnd;
  try {
    end = await performAll(options, job, state, AbortSignal.any([signal, lost, cancelled.signal]));
  } catch (error) {
    if (cancelled.signal.aborted && !lost.aborted) end = { status: 'cancelled' };
    else if (lost.aborted || signal.aborted) end = { status: 'queued', error: null, waitSeconds: 0 };
    else end = afterFailure(error, state.attempts());
  }
  await stopReporting();
  try {
    lost.throwIfAborted();
    await record.save(job.id, state.progress());
    await record.end(job.id, end);
    logger.info(
      { ...fields, status: end.status, ...('error' in end && end.error !== null && { error: errorText(end.error) }) },
      'Work on ranges has ended',
    );
  } catch (error) {
    // The next holder of the lease finds the job `running` and continues it.
    logger[failureLevel(error)]({ ...fields, error: errorText(error) }, 'The end of a job could not be written down');
  }
}

async function performAll(
  { site }: RunRangeJobOptions,
  job: StoredRangeJob,
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
  if (lacking !== null) return { status: 'failed', error: lacking };
  const outcome = state.progress().outcome;
  const unproven = outcome?.levels.unproven ?? 0;
  if (outcome !== null && unproven + outcome.uncovered > 0)
    return { status: 'failed', error: new VerificationIncompleteError(site.name, unproven, outcome.uncovered) };
  return { status: 'done' };
}

type JobState = ReturnType<typeof createState>;

function createState(job: StoredRangeJob) {
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
    attempts: (): number => (done > job.done ? 1 : job.attempts),
  };
}

/** A piece's progress may count a block several times. */
function finishedIn(piece: PieceProgress | null, job: StoredRangeJob, position: number | null): number {
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
/** Queued again if retryable, up to ATTEMPTS_MAX attempts without progress. */
function afterFailure(error: unknown, attempts: number): RangeJobEnd {
  const mayPass = error instanceof ChainsteadError && error.retryable;
  if (!mayPass || attempts >= ATTEMPTS_MAX) return { status: 'failed', error };
  return { status: 'queued', error, waitSeconds: Math.min(WAIT_SECONDS * 2 ** (attempts - 1), WAIT_SECONDS_MAX) };
}

function beginReporting(
  { record, clock, logger }: RunRangeJobOptions,
  id: RangeJob['id'],
  state: JobState,
  cancelled: AbortController,
): () => Promise<void> {
  const ended = new AbortController();
  const work = async (): Promise<void> => {
    for (;;) {
      await sleepUnlessAborted(clock, REPORT_MS, ended.signal);
      if (ended.signal.aborted) return;
      try {
        if (await record.save(id, state.progress())) cancelled.abort(new Error('The job was cancelled'));
      } catch (error) {
        logger[failureLevel(error)]({ job: id, error: errorText(error) }, 'How far a job is could not be written down');
      }
    }
  };
  const working = work();
  return () => {
    ended.abort();
    return working;
  };
}
