import { ChainsteadError, type Clock, errorText, type Logger, rangeSize, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { piecesOf } from './job-pieces.ts';
import type { PerformRangeWork, PieceProgress, PieceResult } from './perform-range-work.ts';
import { type RangeJob, VerificationIncompleteError, type VerifyOutcome } from './range-job.ts';
import { ATTEMPTS_MAX, type RangeJobEnd, type RangeJobProgress, type RangeJobRecord } from './range-job-record.ts';
import type { RangeJobRow } from './range-job-store.ts';

/** A chain whose jobs this process can run. */
export interface RangeJobSite {
  /** Name of the chain in jobs. */
  readonly chain: string;
  /** Name of the chain in logs and errors. */
  readonly name: string;
  /** Opens the resources of one job, such as connections to nodes. Must end when the signal aborts. */
  open(signal: AbortSignal): Promise<{ readonly perform: PerformRangeWork; close(): Promise<void> }>;
}

export interface RunRangeJobOptions {
  readonly site: RangeJobSite;
  readonly record: RangeJobRecord;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when this process loses the lease of the chain. */
  readonly lost: AbortSignal;
}

/** Time between two progress reports, and longest delay until a cancellation is noticed. Milliseconds. */
const REPORT_MS = 1_000;
/** Delay before the first retry, doubled for each further one. Seconds. */
const WAIT_SECONDS = 15;
const WAIT_SECONDS_MAX = 600;

/** Runs a job until it ends or is cancelled. If the signal aborts, the job is queued again. Never rejects. */
export async function runRangeJob(options: RunRangeJobOptions, row: RangeJobRow, signal: AbortSignal): Promise<void> {
  const { record, lost, logger } = options;
  const fields = { job: row.id, chain: options.site.name, work: row.work };
  const state = createState(row);
  const cancelled = new AbortController();
  const reporting = beginReporting(options, row.id, state, cancelled);
  logger.info(fields, 'Range job started');
  let end: RangeJobEnd;
  try {
    end = await performAll(options, row, state, AbortSignal.any([signal, lost, cancelled.signal]));
  } catch (error) {
    if (lost.aborted) end = { status: 'queued', error: null, waitSeconds: 0 };
    else if (cancelled.signal.aborted) end = { status: 'cancelled' };
    else if (signal.aborted) end = { status: 'queued', error: null, waitSeconds: 0 };
    else end = afterFailure(error, state.attempts());
  }
  await reporting.stop();
  try {
    lost.throwIfAborted();
    await record.save(row.id, state.progress());
    await record.end(row.id, end);
    logger.info(
      { ...fields, status: end.status, ...('error' in end && end.error !== null && { error: errorText(end.error) }) },
      'Work on ranges has ended',
    );
  } catch (error) {
    // The next holder of the lease finds the row as `running` and continues the job.
    logger[failureLevel(error)]({ ...fields, error: errorText(error) }, 'The end of a job could not be written down');
  }
}

async function performAll(
  { site }: RunRangeJobOptions,
  row: RangeJobRow,
  state: JobState,
  signal: AbortSignal,
): Promise<RangeJobEnd> {
  const { perform, close } = await site.open(signal);
  let lacking: ChainsteadError | null = null;
  try {
    for (const piece of piecesOf(row.work, row.ranges, row.position)) {
      signal.throwIfAborted();
      const result = await perform(row, piece, state.report, signal);
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

/** Tracks the progress of a job from its stored position. */
function createState(row: RangeJobRow) {
  const all = row.ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  let { done, logs, position, outcome } = row;
  let total = row.total ?? all;
  /** Progress of the current piece. */
  let piece: PieceProgress | null = null;
  const blocksBelow = (block: number): number =>
    row.ranges.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, block - 1) - from + 1), 0);
  if (row.work !== 'backfill') {
    done = position === null ? 0 : blocksBelow(position);
    total = all;
  }

  return {
    report(progress: PieceProgress): void {
      piece = progress;
      // The figures of a piece don't include blocks that were done before this attempt.
      if (row.work === 'backfill') {
        done = row.done + progress.done;
        total = row.done + progress.total;
      }
    },
    finish(last: number, result: PieceResult): void {
      piece = null;
      logs += result.logs;
      outcome = result.outcome === null ? outcome : joined(outcome, result.outcome);
      if (row.work === 'backfill') {
        done = total = Math.max(done, result.lacking === null ? total : done);
        return;
      }
      position = last + 1;
      done = blocksBelow(position);
    },
    progress: (): RangeJobProgress => ({
      done: row.work === 'backfill' ? done : done + partOf(piece, row, position),
      total,
      logs: logs + (piece?.logs ?? 0),
      position,
      outcome,
    }),
    /** Returns the number of attempts since the last progress. */
    attempts: (): number => (done > row.done ? 1 : row.attempts),
  };
}

/** Returns the finished blocks of a piece, whose progress may count a block several times. */
function partOf(piece: PieceProgress | null, row: RangeJobRow, position: number | null): number {
  if (piece === null || piece.total === 0) return 0;
  const [next = []] = piecesOf(row.work, row.ranges, position);
  const blocks = next.reduce((sum, range) => sum + rangeSize(range), 0);
  return Math.floor((blocks * piece.done) / piece.total);
}

function joined(one: VerifyOutcome | null, other: VerifyOutcome): VerifyOutcome {
  if (one === null) return other;
  const levels = { ...one.levels };
  for (const [level, blocks] of Object.entries(other.levels)) levels[level] = (levels[level] ?? 0) + blocks;
  return { levels, repairs: one.repairs + other.repairs, uncovered: one.uncovered + other.uncovered };
}

/** Queues the job again after a retryable error, up to ATTEMPTS_MAX attempts without progress. */
function afterFailure(error: unknown, attempts: number): RangeJobEnd {
  const mayPass = error instanceof ChainsteadError && error.retryable;
  if (!mayPass || attempts >= ATTEMPTS_MAX) return { status: 'failed', error };
  return { status: 'queued', error, waitSeconds: Math.min(WAIT_SECONDS * 2 ** (attempts - 1), WAIT_SECONDS_MAX) };
}

/** Stores the progress of the job every second, and aborts `cancelled` if the job was cancelled. */
function beginReporting(
  { record, clock, logger }: RunRangeJobOptions,
  id: RangeJob['id'],
  state: JobState,
  cancelled: AbortController,
): { stop(): Promise<void> } {
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
  return {
    async stop() {
      ended.abort();
      await working;
    },
  };
}
