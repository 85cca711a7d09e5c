/** If a chain stalls, the reason is in status, in a metric and in one log line per minute. */
import { type ChainId, type ChainsteadError, errorText, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel, sql } from '@chainstead/db';
import type { Head, UpstreamStatus } from '@chainstead/rpc';
import type { ChainSyncOptions } from '../chain-sync-options.ts';
import type { ChainState, Checkpoint } from '../checkpoint.ts';
import type { DatasetFailure } from '../read/dataset-failures.ts';
import { complaintsOf, UNKNOWN_AFTER_MS } from './head-reports.ts';
import { measureCoverage } from './measure-coverage.ts';

interface StatusReports {
  begin(state: ChainState): void;
  progress(seen: { readonly head: Head | null; readonly checkpoint: Checkpoint | null }): void;
  /** Null: idle. */
  proving(blocksPerSecond: number | null): void;
  /** 0 while head or checkpoint is unknown. */
  blocksBehind(): number;
  readonly stopped: Promise<void>;
}

const REPORT_INTERVAL_MS = 2_000;
const LED_INTERVALS = 5;
const STALL_LOG_INTERVAL_MS = 60_000;
const STALL_MIN_MS = 30_000;
const STALL_BLOCK_TIMES = 10;

export interface ChainProgress {
  head: Head | null;
  checkpoint: Checkpoint | null;
  /** Null until known. */
  historyStart: number | null;
  /** By the prover; null: idle. */
  provingRate: number | null;
  readonly filling: FillingPace;
  /** Missing blocks per second; null: none are filled. */
  fillingRate: number | null;
  /** Last checkpoint move, or start of the lead. Epoch milliseconds. */
  progressAt: number;
  loggedAt: number;
  /** Why the checkpoint does not move; null once it moved, or every block up to the head is indexed. */
  failure: string | null;
  failing: ReadonlySet<string>;
}

export function beginProgress(now: number): ChainProgress {
  const unknown = { head: null, checkpoint: null, historyStart: null, provingRate: null, failure: null };
  const filling = { filling: createFillingPace(), fillingRate: null };
  return { ...unknown, ...filling, progressAt: now, loggedAt: 0, failing: new Set() };
}

/** `state` outlives the session: sessions that fail repeatedly make no progress. */
export function startStatusReports(
  options: ChainSyncOptions,
  state: ChainProgress,
  signal: AbortSignal,
): StatusReports {
  const { chain, clock, logger, metrics } = options;
  const stallAfterMs = Math.max(STALL_MIN_MS, chain.blockTimeMs * STALL_BLOCK_TIMES);

  const firstHead = Promise.withResolvers<void>();

  const reportFailures = (failures: readonly DatasetFailure[]): void => {
    for (const { dataset, range, blocks, message } of failures)
      if (!state.failing.has(dataset))
        logger.error(
          { chain: chain.key, dataset, block_range: `${range.from}-${range.to}`, blocks, error: message },
          "A dataset can't decode some blocks: its coverage has a gap, other datasets continue",
        );
    state.failing = new Set(failures.map(({ dataset }) => dataset));
  };

  const report = async (): Promise<void> => {
    const upstreams = options.pool.status();
    await saveHealth(options, state, upstreams);
    const measured = await measureCoverage(
      { ...options, retention: options.settings.retention },
      state.provingRate,
    );
    reportFailures(measured.failures);
    state.fillingRate = reportFilling(options, state, measured.missing);
    const silentMs = clock.now() - state.progressAt;
    const { head, checkpoint } = state;
    const caughtUp = head !== null && checkpoint !== null && head.number <= checkpoint.number;
    if (caughtUp) state.failure = null;
    const idle = options.settings.mayIdle === true && caughtUp && isHeadKnown(upstreams, clock.now());
    const stalled = silentMs > stallAfterMs && !idle;
    metrics.stalled.set({ chain: chain.key }, stalled ? 1 : 0);
    if (!stalled) {
      if (caughtUp)
        await options.database.query(
          sql`UPDATE sync_chains SET stall_reason = NULL WHERE chain_id = ${chain.id} AND stall_reason IS NOT NULL`,
        );
      return;
    }
    const reason = startsAboveHead(state, head)
      ? farStartText(state, head)
      : `No progress for ${Math.round(silentMs / 1000)} s: ${explain(state, upstreams, clock.now())}`;
    await saveStall(options.database, chain.id, reason);
    if (clock.now() - state.loggedAt < STALL_LOG_INTERVAL_MS) return;
    state.loggedAt = clock.now();
    const blocks = { head: head?.number ?? null, checkpoint: checkpoint?.number ?? null };
    logger.warn({ chain: chain.key, ...blocks, reason }, 'No progress');
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const hadHead = state.head !== null;
      try {
        await report();
      } catch (error) {
        logger[failureLevel(error)]({ chain: chain.key, error: errorText(error) }, 'Status could not be written');
      }
      const interval = sleepUnlessAborted(clock, REPORT_INTERVAL_MS, signal);
      // Status shows the first head at once, also one that came during the report.
      await (hadHead ? interval : Promise.race([interval, firstHead.promise]));
    }
  };

  return {
    begin: ({ historyStart }) => {
      state.historyStart = historyStart;
    },
    progress: ({ head, checkpoint }) => {
      if (head !== null) {
        state.head = head;
        firstHead.resolve();
      }
      if (checkpoint !== null && checkpoint.hash !== state.checkpoint?.hash) {
        state.checkpoint = checkpoint;
        state.progressAt = clock.now();
        state.failure = null;
      }
    },
    proving: (blocksPerSecond) => {
      state.provingRate = blocksPerSecond;
    },
    blocksBehind: () =>
      state.head === null || state.checkpoint === null ? 0 : state.head.number - state.checkpoint.number,
    stopped: run(),
  };
}

function reportFilling(
  { chain, clock, metrics }: Pick<ChainSyncOptions, 'chain' | 'clock' | 'metrics'>,
  { filling }: Pick<ChainProgress, 'filling'>,
  missing: readonly number[],
): number | null {
  const rate = filling(missing, clock.now());
  metrics.backfillBlocksPerSecond.set({ chain: chain.key }, rate ?? 0);
  if (rate === null) metrics.backfillSecondsLeft.remove({ chain: chain.key });
  else metrics.backfillSecondsLeft.set({ chain: chain.key }, Math.max(...missing) / rate);
  return rate;
}

/** A node has just confirmed it. The next block of an idle chain may come at any time. */
function isHeadKnown(upstreams: readonly UpstreamStatus[], now: number): boolean {
  return upstreams.some(({ headAt }) => headAt !== null && now - headAt <= UNKNOWN_AFTER_MS);
}

type Start = Pick<ChainProgress, 'historyStart' | 'checkpoint'>;

/** Nothing is indexed until the head reaches it. */
export function startsAboveHead(state: Start, head: Head | null): head is Head {
  return head !== null && state.checkpoint === null && (state.historyStart ?? 0) > head.number;
}

export function farStartText({ historyStart }: Start, head: Head): string {
  return `START_BLOCK is ${historyStart}, above the head ${head.number}: nothing is indexed until the chain gets there`;
}

function explain(
  state: {
    readonly head: { readonly number: number } | null;
    readonly checkpoint: { readonly number: number } | null;
    readonly failure?: string | null;
  },
  upstreams: readonly UpstreamStatus[],
  now: number,
): string {
  if (!isHeadKnown(upstreams, now)) return complaintsOf(upstreams, 0);
  if (typeof state.failure === 'string') return state.failure;
  if (state.head !== null && state.checkpoint !== null && state.head.number <= state.checkpoint.number)
    return `no upstream has announced a block above ${state.checkpoint.number}`;
  return complaintsOf(upstreams, 0);
}

async function saveHealth(
  { database, chain, sources }: Pick<ChainSyncOptions, 'database' | 'chain' | 'sources'>,
  { head, provingRate, fillingRate }: Pick<ChainProgress, 'head' | 'provingRate' | 'fillingRate'>,
  upstreams: readonly UpstreamStatus[],
): Promise<void> {
  await database.query(
    sql`UPDATE sync_chains SET head = coalesce(${head?.number ?? null}, head), upstreams = ${JSON.stringify(upstreams)}, sources = ${JSON.stringify(sources?.statuses() ?? [])},
        prover_rate = ${provingRate}, backfill_rate = ${fillingRate}, updated_at = now()
      WHERE chain_id = ${chain.id}`,
  );
}

export async function saveStall(database: Database, chainId: ChainId, reason: string): Promise<void> {
  await database.query(
    sql`UPDATE sync_chains SET stall_reason = ${reason}, updated_at = now() WHERE chain_id = ${chainId}`,
  );
}

/** A recent row is left unchanged: another process leads the chain. */
export async function saveStartFailure(database: Database, chainId: ChainId, reason: string): Promise<void> {
  await database.query(
    sql`UPDATE sync_chains SET stall_reason = ${reason}
      WHERE chain_id = ${chainId} AND updated_at < now() - ${REPORT_INTERVAL_MS * LED_INTERVALS} * interval '1 millisecond'`,
  );
}

export async function clearStartFailure(database: Database, chainId: ChainId, reason: string): Promise<void> {
  await database.query(
    sql`UPDATE sync_chains SET stall_reason = NULL WHERE chain_id = ${chainId} AND stall_reason = ${reason}`,
  );
}

export async function saveChainStop(database: Database, chainId: ChainId, error: ChainsteadError): Promise<void> {
  await database.query(
    sql`UPDATE sync_chains SET stop_code = ${error.code}, stop_message = ${error.message}, updated_at = now() WHERE chain_id = ${chainId}`,
  );
}

const WINDOW_MS = 60_000;

/** @returns missing blocks per second over the last minute; null if none are filled */
type FillingPace = (missing: readonly number[], now: number) => number | null;

/** Counts by coverage: blocks of all processes. A block counts once, although several datasets lack it. */
export function createFillingPace(): FillingPace {
  let seen: { readonly at: number; readonly lacking: number }[] = [];
  return (missing, now) => {
    const lacking = missing.reduce((sum, blocks) => sum + blocks, 0);
    const last = seen.at(-1);
    // A new dataset or an earlier start: another count begins.
    if (last !== undefined && lacking > last.lacking) seen = [];
    seen = [...seen.filter(({ at }) => now - at <= WINDOW_MS), { at: now, lacking }];
    const first = seen[0];
    if (first === undefined || lacking === 0 || first.lacking === lacking) return null;
    const datasets = lacking / Math.max(...missing);
    return ((first.lacking - lacking) * 1_000) / datasets / (now - first.at);
  };
}
