/** Every few seconds. Without progress: status, metric, and a log line per minute. */
import { type ChainsteadError, errorText, rangeSize, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel, sql } from '@chainstead/db';
import { missingCoverage } from '@chainstead/sync/requests';
import type { FullnodeStatus } from '../fullnode/fullnode-state.ts';
import type { LedgerReach } from '../fullnode/fullnodes.ts';
import { chainIdOf } from '../fullnode/ledger-info.ts';
import type { AptosNetwork } from '../transaction.ts';
import { listCoverage } from './aptos-status.ts';
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

interface NetworkStart {
  readonly historyStart: number;
  readonly firstFollowed: number;
}

export async function readNetworkStart(database: Database, network: AptosNetwork): Promise<NetworkStart | null> {
  const [row] = await database.query<NetworkStart>(
    sql`SELECT history_start, first_followed FROM aptos_networks WHERE network = ${network}`,
  );
  return row ?? null;
}

/** Keeps the first followed version, clears a stop. */
export async function saveNetworkStart(
  database: Database,
  network: AptosNetwork,
  start: NetworkStart,
): Promise<void> {
  await database.query(
    sql`INSERT INTO aptos_networks (network, chain_id, history_start, first_followed) VALUES (${network}, ${chainIdOf(network)}, ${start.historyStart}, ${start.firstFollowed})
     ON CONFLICT (network) DO UPDATE SET
       history_start = excluded.history_start, stop_code = NULL, stop_message = NULL, updated_at = now()`,
  );
}

async function saveHealth(
  database: Database,
  network: AptosNetwork,
  health: {
    readonly reach: LedgerReach | null;
    readonly fullnodes: readonly FullnodeStatus[];
    /** Undefined: unchanged. */
    readonly stallReason: string | null | undefined;
  },
): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET head = coalesce(${health.reach?.head ?? null}, head), oldest = coalesce(${health.reach?.oldest ?? null}, oldest), fullnodes = ${JSON.stringify(health.fullnodes)},
            stall_reason = CASE WHEN ${health.stallReason !== undefined}::boolean THEN ${health.stallReason ?? null} ELSE stall_reason END, updated_at = now()
      WHERE network = ${network}`,
  );
}

export async function saveStop(database: Database, network: AptosNetwork, error: ChainsteadError): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET stop_code = ${error.code}, stop_message = ${error.message}, updated_at = now() WHERE network = ${network}`,
  );
}

export async function clearStop(database: Database, network: AptosNetwork): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET stop_code = NULL, stop_message = NULL WHERE network = ${network}`,
  );
}

/** No row before the first start: then only in the application log. */
export async function saveStall(database: Database, network: AptosNetwork, reason: string): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET stall_reason = ${reason}, updated_at = now() WHERE network = ${network}`,
  );
}
