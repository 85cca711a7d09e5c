/** Every few seconds. Without progress: status, metric, and a log line per minute. */
import { errorText, rangeSize, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { missingCoverage } from '@chainstead/sync/requests';
import type { LedgerReach } from '../fullnode/fullnodes.ts';
import { listCoverage } from './coverage.ts';
import { readNetworkStart, saveHealth } from './network-record.ts';
import type { AptosSyncOptions } from './options.ts';

export interface AptosStatusReports {
  reach(reach: LedgerReach): void;
  progress(last: number): void;
  readonly stopped: Promise<void>;
}

const REPORT_INTERVAL_MS = 2_000;
const STALL_AFTER_MS = 30_000;
const STALL_LOG_INTERVAL_MS = 60_000;

/** Epoch milliseconds of the last commit in all sessions: a restart is no progress. */
export interface CommitProgress {
  at: number;
  loggedAt: number;
  /** Null: no refused writes since. */
  databaseFailure: string | null;
}

export function startStatusReports(
  options: AptosSyncOptions,
  progress: CommitProgress,
  signal: AbortSignal,
): AptosStatusReports {
  const { clock, database, fullnodes, logger, metrics } = options;
  const { chain } = fullnodes;
  const state = { reach: null as LedgerReach | null, top: -1 };

  const report = async (): Promise<void> => {
    const silentMs = clock.now() - progress.at;
    const stalled = silentMs > STALL_AFTER_MS;
    const reason = stalled
      ? `No progress for ${Math.round(silentMs / 1_000)} s: ${progress.databaseFailure ?? explain(options, state)}`
      : null;
    metrics.stalled.set({ chain }, stalled ? 1 : 0);
    await saveHealth(database, fullnodes.network, {
      reach: state.reach,
      fullnodes: fullnodes.status(),
      // The reason of the last session's end stays until this one has made progress.
      stallReason: reason ?? (state.reach === null ? undefined : null),
    });
    await measureCoverage(options, state.reach);
    if (reason === null || clock.now() - progress.loggedAt < STALL_LOG_INTERVAL_MS) return;
    progress.loggedAt = clock.now();
    logger.warn({ chain, head: state.reach?.head ?? null, reason }, 'No progress');
  };

  const run = async (): Promise<void> => {
    for (let isLast = false; ; ) {
      try {
        await report();
      } catch (error) {
        logger[failureLevel(error)]({ chain, error: errorText(error) }, 'Status could not be written');
      }
      if (isLast) return;
      await sleepUnlessAborted(clock, REPORT_INTERVAL_MS, signal);
      isLast = signal.aborted;
    }
  };

  return {
    reach: (reach) => {
      state.reach = reach;
      metrics.headBlock.set({ chain }, reach.head);
    },
    progress: (last) => {
      progress.at = clock.now();
      progress.databaseFailure = null;
      state.top = Math.max(state.top, last);
    },
    stopped: run(),
  };
}

function explain(
  { fullnodes }: AptosSyncOptions,
  { reach, top }: { readonly reach: LedgerReach | null; readonly top: number },
): string {
  if (reach !== null && top >= reach.head) return `no fullnode has announced a version above ${reach.head}`;
  const complaints = fullnodes
    .status()
    .map(({ name, state, reason, lastError }) => `${name} (${state}; ${reason ?? lastError ?? 'no error'})`);
  return complaints.join('; ');
}

async function measureCoverage(options: AptosSyncOptions, reach: LedgerReach | null): Promise<void> {
  const { database, datasets, fullnodes, metrics } = options;
  const { chain } = fullnodes;
  const coverage = await listCoverage(database, fullnodes.network);
  const start = await readNetworkStart(database, fullnodes.network);
  const tops: number[] = [];
  for (const { name } of datasets) {
    const ranges = coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range);
    const top = ranges.at(-1)?.to;
    const covered = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
    metrics.coveredBlocks.set({ chain, dataset: name, proof: 'none' }, covered);
    if (top !== undefined) tops.push(top);
    if (reach === null || start === null || top === undefined) continue;
    const missing = missingCoverage({ from: start.historyStart, to: top }, [name], coverage);
    metrics.gapBlocks.set(
      { chain, dataset: name },
      missing.reduce((sum, { range }) => sum + rangeSize(range), 0),
    );
  }
  if (tops.length > 0) metrics.checkpointBlock.set({ chain }, Math.min(...tops));
}
