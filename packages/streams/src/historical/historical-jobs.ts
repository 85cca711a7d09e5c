import {
  type Address,
  type ChainId,
  ChainsteadError,
  type Clock,
  errorText,
  type Logger,
  sleepUnlessAborted,
} from '@chainstead/core';
import {
  type Database,
  failureLevel,
  type Transaction,
  tryAcquireLeadership,
  UNWRITTEN,
  type WorkJournal,
} from '@chainstead/db';
import { STREAM_COLUMNS, type StreamRow, streamOf } from '../records/stream-row.ts';
import { holdStreamsVersion } from '../records/streams-version.ts';
import { createPastMatcher, readPastBlocks } from './match-past-blocks.ts';
import { type PastChain, readFollowedHeight, requireCanonical } from './past-chain.ts';
import { recordPastMatches } from './record-past-matches.ts';

export interface HistoricalJobsOptions {
  readonly database: Database;
  readonly chains: readonly PastChain[];
  readonly logger: Logger;
  readonly clock: Clock;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** Between two looks for jobs when there is nothing to do. Default 2,000 ms. */
  readonly idleMs?: number;
}

/**
 * Works off replays of streams over past blocks: a part of each job in turn, of each chain in one process at a time. Matches,
 * webhooks and the job's progress are one transaction, so a job that is interrupted goes on where it was. Blocks that are not
 * confirmed yet are waited for.
 */
export interface HistoricalJobs {
  /** Runs until the signal aborts. Never rejects: what fails stands in the log and with the job, and is tried again. */
  run(signal: AbortSignal): Promise<void>;
}

const IDLE_MS = 2_000;
/** Blocks of one transaction. */
const PART_BLOCKS = 32;
/** A job that failed for a reason that may pass rests for so long. */
const REST_MS = 10_000;

interface JobRow {
  readonly id: string;
  readonly stream_id: string;
  readonly chain_id: ChainId;
  readonly next_block: number;
  readonly to_block: number;
  readonly addresses: readonly Address[] | null;
}

export function createHistoricalJobs(options: HistoricalJobsOptions): HistoricalJobs {
  return {
    run: async (signal) => {
      await Promise.all(options.chains.map((past) => runChain(options, past, signal)));
    },
  };
}

async function runChain(options: HistoricalJobsOptions, past: PastChain, signal: AbortSignal): Promise<void> {
  const { clock, logger, idleMs = IDLE_MS } = options;
  const restsUntil = new Map<string, number>();
  while (!signal.aborted) {
    try {
      await workWhileOpen(options, past, restsUntil, signal);
    } catch (error) {
      if (!signal.aborted)
        logger[failureLevel(error)](
          { chain: past.chain.key, error: errorText(error) },
          'Historical jobs were interrupted; resuming',
        );
    }
    await sleepUnlessAborted(clock, idleMs, signal);
  }
}

/** Leads the chain's jobs for as long as there are any that can go on. */
async function workWhileOpen(
  options: HistoricalJobsOptions,
  past: PastChain,
  restsUntil: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  const { database, clock } = options;
  if ((await openJobs(database, past)).length === 0) return;
  const { leadership } = await tryAcquireLeadership(database, `historical-jobs:${past.chain.id}`);
  if (leadership === null) return;
  const stop = AbortSignal.any([signal, leadership.lost]);
  try {
    for (let advanced = true; advanced; ) {
      advanced = false;
      for (const job of await openJobs(database, past)) {
        stop.throwIfAborted();
        if ((restsUntil.get(job.id) ?? 0) > clock.now()) continue;
        const outcome = await workOnPart(options, past, job, stop);
        if (outcome === 'failed') restsUntil.set(job.id, clock.now() + REST_MS);
        advanced ||= outcome === 'advanced';
      }
    }
  } finally {
    await leadership.release();
  }
}

function openJobs(database: Database, { chain }: PastChain): Promise<JobRow[]> {
  return database.query<JobRow>(
    `SELECT id, stream_id, chain_id, next_block, to_block, addresses FROM historical_jobs
     WHERE chain_id = $1 AND status IN ('pending', 'running') ORDER BY created_at, id`,
    [chain.id],
  );
}

async function workOnPart(
  options: HistoricalJobsOptions,
  past: PastChain,
  job: JobRow,
  signal: AbortSignal,
): Promise<'advanced' | 'waits' | 'failed'> {
  const { database, logger } = options;
  try {
    const work = { kind: 'historical-job', keys: [job.id] } as const;
    return await (options.journal ?? UNWRITTEN).run(work, () => replayPart(options, past, job, signal));
  } catch (error) {
    signal.throwIfAborted();
    const isFinal = error instanceof ChainsteadError && !error.retryable;
    logger.warn(
      { chain: past.chain.key, job: job.id, block: job.next_block, error: errorText(error) },
      isFinal ? 'A historical job failed' : 'A part of a historical job failed, trying again',
    );
    await database.query(
      `UPDATE historical_jobs SET error_message = $2, status = CASE WHEN $3 THEN 'failed' ELSE status END, updated_at = now()
       WHERE id = $1 AND status IN ('pending', 'running')`,
      [job.id, errorText(error), isFinal],
    );
    return 'failed';
  }
}

async function replayPart(
  { database, logger }: HistoricalJobsOptions,
  past: PastChain,
  job: JobRow,
  signal: AbortSignal,
): Promise<'advanced' | 'waits'> {
  const { chain } = past;
  const { confirmed } = await readFollowedHeight(database, past, 'look');
  const range = { from: job.next_block, to: Math.min(job.to_block, job.next_block + PART_BLOCKS - 1, confirmed) };
  if (range.from > range.to) return 'waits';
  const [row] = await database.query<StreamRow>(
    `SELECT ${STREAM_COLUMNS} FROM streams WHERE id = $1 AND deleted_at IS NULL`,
    [job.stream_id],
  );
  if (row === undefined) return 'waits';
  const matcher = createPastMatcher({ ...past, logger }, { stream: streamOf(row), addresses: job.addresses });
  const blocks = await readPastBlocks(matcher, chain, range, signal);
  await database.transaction(async (transaction) => {
    await readFollowedHeight(transaction, past, 'hold');
    await holdStreamsVersion(transaction);
    await requireCanonical(transaction, chain, blocks);
    const matches = await matcher.match(transaction, blocks);
    // What another process has done meanwhile, or whose stream was deleted, is not done again.
    if (await advance(transaction, job, range.to + 1, matches.length))
      await recordPastMatches(transaction, chain, 'confirmed', matches);
  });
  return 'advanced';
}

async function advance(transaction: Transaction, job: JobRow, nextBlock: number, matches: number): Promise<boolean> {
  const rows = await transaction.query(
    `UPDATE historical_jobs SET next_block = $3, matches = matches + $4, error_message = NULL, updated_at = now(),
       status = CASE WHEN $3 > to_block THEN 'done' ELSE 'running' END
     WHERE id = $1 AND next_block = $2 AND status IN ('pending', 'running') RETURNING id`,
    [job.id, job.next_block, nextBlock, matches],
  );
  return rows.length === 1;
}
