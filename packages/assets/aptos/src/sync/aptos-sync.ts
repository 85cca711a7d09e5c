/** State is in the database: a new session resumes from the last commit after any failure. */
import { ChainsteadError, errorText } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { lead } from '@chainstead/sync/ingest';
import { VersionsPrunedError } from '../fullnode/errors.ts';
import type { LedgerReach } from '../fullnode/fullnodes.ts';
import { chainIdOf } from '../fullnode/ledger-info.ts';
import { type BatchCommit, commitBatch, fillVersions } from './fill-versions.ts';
import type { AptosSyncOptions } from './options.ts';
import { readRange } from './read-range.ts';
import { checkKnownRoots, confirmRoot, type EndOfBatch, saveConfirmation } from './roots.ts';
import {
  type AptosStatusReports,
  type CommitProgress,
  clearStop,
  readNetworkStart,
  saveNetworkStart,
  saveStall,
  saveStop,
  startStatusReports,
} from './status-reports.ts';

const STOPPING: ReadonlySet<string> = new Set(['ACCUMULATOR_ROOT_MISMATCH']);
const PRUNED_RETRY_MS = 60_000;

export function createAptosSync(options: AptosSyncOptions) {
  const { clock, database, fullnodes } = options;
  const { chain, network } = fullnodes;
  return {
    /** Until aborted, or covered to the end version. Never rejects: reports and retries. */
    run(signal: AbortSignal): Promise<void> {
      const progress: CommitProgress = { at: clock.now(), loggedAt: 0, databaseFailure: null };
      return lead(
        {
          ...options,
          chain,
          lease: `ingest:aptos:${chainIdOf(network)}`,
          stopCodes: STOPPING,
          session: (leadership, lasting) =>
            runSession({ ...options, database: database.until(leadership.lost), leadership }, progress, lasting),
          standBy: () => {
            progress.at = clock.now();
          },
          saveFailure: async (saving, error, stop) => {
            if (error instanceof DatabaseUnavailableError) progress.databaseFailure = error.message;
            await saveStall(saving, network, errorText(error));
            if (stop !== null) await saveStop(saving, network, stop);
          },
        },
        signal,
      );
    },
  };
}

async function runSession(
  options: AptosSyncOptions,
  progress: CommitProgress,
  signal: AbortSignal,
): Promise<void> {
  const session = new AbortController();
  const stop = AbortSignal.any([signal, session.signal]);
  // From the start: a network whose fullnodes don't respond must be reported too.
  const reports = startStatusReports(options, progress, stop);
  const running: Promise<void>[] = [reports.stopped];
  const reporting: AptosSyncOptions = {
    ...options,
    onCommit: (committed) => {
      reports.progress(committed.last);
      options.onCommit?.(committed);
    },
  };
  try {
    const { head, historyStart } = await prepare(options, reports, stop);
    const first = Math.max(historyStart, head + 1);
    const following = followVersions({ ...reporting, onReach: (reach) => reports.reach(reach) }, first, stop);
    const history = fillHistory(reporting, historyStart, head, stop);
    running.push(following, history);
    await Promise.all([following, history]);
  } finally {
    session.abort(new ChainsteadError({ code: 'SESSION_ENDED', message: 'The session ended', retryable: true }));
    await Promise.allSettled(running);
  }
}

async function prepare(
  options: AptosSyncOptions,
  reports: AptosStatusReports,
  signal: AbortSignal,
): Promise<{ head: number; historyStart: number }> {
  const { database, fullnodes, logger, settings } = options;
  const { chain, network } = fullnodes;
  const reach = await fullnodes.ledger(signal);
  reports.reach(reach);
  await checkKnownRoots(database, fullnodes, reach.head, signal);
  const stored = await readNetworkStart(database, network);
  const head = Math.min(reach.head, settings.endVersion ?? reach.head);
  const historyStart = settings.startVersion ?? stored?.historyStart ?? reach.head;
  const firstFollowed = stored?.firstFollowed ?? Math.max(historyStart, head + 1);
  await saveNetworkStart(database, network, { historyStart, firstFollowed });
  const { oldest } = reach;
  logger.info({ chain, head: reach.head, oldest, history_start: historyStart }, 'Leading the chain');
  return { head, historyStart };
}

async function fillHistory(
  options: AptosSyncOptions,
  historyStart: number,
  head: number,
  signal: AbortSignal,
): Promise<void> {
  const { clock, database, fullnodes, logger } = options;
  const { chain } = fullnodes;
  let isPruned = false;
  for (let from = historyStart; from <= head; ) {
    try {
      const { done, rows } = await fillVersions(options, [{ from, to: head }], signal);
      if (done > 0) logger.info({ chain, version_range: `${from}-${head}`, rows }, 'Backfill complete');
      if (from === historyStart) {
        if (isPruned) await clearStop(database, fullnodes.network);
        return;
      }
      await clock.sleep(PRUNED_RETRY_MS, signal);
      from = historyStart;
    } catch (error) {
      if (!(error instanceof VersionsPrunedError)) throw error;
      logger.error({ chain, code: error.code, error: error.message }, 'History is incomplete');
      await saveStop(database, fullnodes.network, error);
      isPruned = true;
      from = Math.max(from + 1, error.oldest);
    }
  }
}

interface FollowOptions extends AptosSyncOptions {
  onReach(reach: LedgerReach): void;
}

const POLL_MS = 500;
const FOLLOW_VERSIONS = 5_000;
const CONFIRM_INTERVAL_MS = 10_000;

async function followVersions(options: FollowOptions, first: number, signal: AbortSignal): Promise<void> {
  const { clock, datasets, fullnodes, settings } = options;
  const names = datasets.map(({ name }) => name);
  const end = settings.endVersion ?? Number.MAX_SAFE_INTEGER;
  const comparison = compareRoots(options, signal);
  for (let next = first; next <= end; ) {
    const reach = await fullnodes.ledger(signal);
    options.onReach(reach);
    const last = Math.min(reach.head, end, next + FOLLOW_VERSIONS - 1);
    if (last >= next)
      for await (const batch of readRange(options, datasets, { from: next, to: last }, signal)) {
        const compared = await comparison(batch);
        await commitBatch(options, { batch, datasets: names, kind: 'follow', ...compared });
        options.metrics.checkpointBlock.set({ chain: fullnodes.chain }, batch.range.to);
        next = batch.range.to + 1;
      }
    if (next > reach.head) await clock.sleep(settings.pollMs ?? POLL_MS, signal);
  }
}

/** A lagging fullnode never has the newest version: one is kept. @throws RootMismatchError */
function compareRoots({ clock, database, fullnodes }: FollowOptions, signal: AbortSignal) {
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let awaited: EndOfBatch | null = null;

  return async ({
    range,
    root,
    fullnode,
  }: EndOfBatch): Promise<Pick<BatchCommit, 'confirmedBy' | 'keptRoot'>> => {
    if (clock.now() - confirmedAt < CONFIRM_INTERVAL_MS) return { confirmedBy: null };
    const batch = { range, root, fullnode };
    const confirmedBy = await confirmRoot(fullnodes, batch, signal);
    const before =
      confirmedBy === null && awaited !== null ? await confirmRoot(fullnodes, awaited, signal) : null;
    if (before !== null && awaited !== null)
      await saveConfirmation(database, fullnodes.network, awaited.range.to, before);
    if (confirmedBy === null && before === null) {
      awaited ??= batch;
      return { confirmedBy, keptRoot: awaited.range.to };
    }
    confirmedAt = clock.now();
    awaited = null;
    return { confirmedBy };
  };
}
