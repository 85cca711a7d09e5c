/** State is in the database: a new session resumes from the last commit after any failure. */
import { ChainsteadError, errorText, sleepUnlessAborted } from '@chainstead/core';
import {
  DatabaseError,
  DatabaseUnavailableError,
  failureLevel,
  type Leadership,
  tryAcquireLeadership,
} from '@chainstead/db';
import { RootMismatchError, VersionsPrunedError } from '../fullnode/errors.ts';
import { chainIdOf, chainKeyOf } from '../fullnode/network.ts';
import { fillVersions } from './fill-versions.ts';
import { followVersions } from './follow-versions.ts';
import { clearStop, readNetworkStart, saveNetworkStart, saveStall, saveStop } from './network-record.ts';
import type { AptosSyncOptions } from './options.ts';
import { checkKnownRoots } from './roots.ts';
import { type AptosStatusReports, type CommitProgress, startStatusReports } from './status-reports.ts';

/** `away`: no database, checked as often as a free lease. */
type Outcome = 'complete' | 'failed' | 'stopped' | 'away' | { readonly leader: string };

const LAST_WORD_MS = 5_000;
const STANDBY_POLL_MS = 1_000;
const CUT_OFF = 'Ended sessions of the former leader, which fell silent while it held what others wait for';
const RESTART_DELAY_MS = 500;
const RESTART_DELAY_MAX_MS = 15_000;
/** A session this long was healthy: the next delay is short again. */
const LONG_SESSION_MS = 60_000;
const STOPPED_RETRY_MS = 60_000;

export function createAptosSync(options: AptosSyncOptions) {
  return {
    /** Until aborted, or covered to the end version. Never rejects: reports and retries. */
    async run(signal: AbortSignal): Promise<void> {
      const progress: CommitProgress = { at: options.clock.now(), loggedAt: 0, databaseFailure: null };
      const chain = chainKeyOf(options.fullnodes.network);
      let leader: string | null = null;
      for (let delay = RESTART_DELAY_MS; !signal.aborted; ) {
        const started = options.clock.now();
        const outcome = await leadOnce(options, progress, signal);
        if (outcome === 'complete' || signal.aborted) return;
        const leads = typeof outcome === 'object' ? outcome.leader : null;
        if (leads !== null && leads !== leader)
          options.logger.info({ chain, leader: leads }, 'Standing by: another process leads the chain');
        leader = leads;
        const wasLong = options.clock.now() - started > LONG_SESSION_MS;
        delay = wasLong ? RESTART_DELAY_MS : Math.min(delay * 2, RESTART_DELAY_MAX_MS);
        const waits = { stopped: STOPPED_RETRY_MS, failed: delay, away: STANDBY_POLL_MS };
        const wait = typeof outcome === 'object' ? STANDBY_POLL_MS : waits[outcome];
        await sleepUnlessAborted(options.clock, wait, signal);
      }
    },
  };
}

async function leadOnce(options: AptosSyncOptions, progress: CommitProgress, signal: AbortSignal): Promise<Outcome> {
  const { clock, database, fullnodes, logger, metrics } = options;
  const chain = chainKeyOf(fullnodes.network);
  let leadership: Leadership | null = null;
  try {
    const candidacy = await tryAcquireLeadership(database, `ingest:aptos:${chainIdOf(fullnodes.network)}`, {
      onCutOff: (sessions) => logger.warn({ chain, sessions }, CUT_OFF),
    });
    metrics.standby.set({ chain }, candidacy.leadership === null ? 1 : 0);
    if (candidacy.leadership === null) {
      progress.at = clock.now();
      metrics.stalled.set({ chain }, 0);
      return { leader: candidacy.leader };
    }
    leadership = candidacy.leadership;
    metrics.leader.set({ chain }, 1);
    leadership.lost.addEventListener('abort', () => metrics.leader.set({ chain }, 0), { once: true });
    const held = { ...options, database: database.until(leadership.lost), leadership };
    await runSession(held, progress, AbortSignal.any([signal, leadership.lost]));
    return 'complete';
  } catch (error) {
    if (signal.aborted) return 'complete';
    // First: a lost lease makes running work fail.
    return await reportFailure(options, progress, leadership?.lost.aborted === true ? leadership.lost.reason : error);
  } finally {
    metrics.leader.set({ chain }, 0);
    try {
      await leadership?.release();
    } catch (error) {
      logger.debug({ chain, error: errorText(error) }, 'Closing failed; the connection is gone anyway');
    }
  }
}

async function runSession(options: AptosSyncOptions, progress: CommitProgress, signal: AbortSignal): Promise<void> {
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
  const { network } = fullnodes;
  const reach = await fullnodes.ledger(signal);
  reports.reach(reach);
  await checkKnownRoots(database, fullnodes, reach.head, signal);
  const stored = await readNetworkStart(database, network);
  const head = Math.min(reach.head, settings.endVersion ?? reach.head);
  const historyStart = settings.startVersion ?? stored?.historyStart ?? reach.head;
  const firstFollowed = stored?.firstFollowed ?? Math.max(historyStart, head + 1);
  await saveNetworkStart(database, network, { historyStart, firstFollowed });
  const { oldest } = reach;
  logger.info(
    { chain: chainKeyOf(network), head: reach.head, oldest, history_start: historyStart },
    'Leading the chain',
  );
  return { head, historyStart };
}

async function fillHistory(
  options: AptosSyncOptions,
  historyStart: number,
  head: number,
  signal: AbortSignal,
): Promise<void> {
  const { clock, database, fullnodes, logger } = options;
  const chain = chainKeyOf(fullnodes.network);
  let isPruned = false;
  for (let from = historyStart; from <= head; ) {
    try {
      const { done, rows } = await fillVersions(options, [{ from, to: head }], signal);
      if (done > 0) logger.info({ chain, version_range: `${from}-${head}`, rows }, 'Backfill complete');
      if (from === historyStart) {
        if (isPruned) await clearStop(database, fullnodes.network);
        return;
      }
      await clock.sleep(STOPPED_RETRY_MS, signal);
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

async function reportFailure(options: AptosSyncOptions, progress: CommitProgress, error: unknown): Promise<Outcome> {
  const { database, fullnodes, logger } = options;
  if (error instanceof DatabaseUnavailableError) progress.databaseFailure = error.message;
  const chain = chainKeyOf(fullnodes.network);
  const stopping = error instanceof RootMismatchError;
  const fields = { chain, error: errorText(error), ...(error instanceof ChainsteadError ? { code: error.code } : {}) };
  if (stopping) logger.error(fields, 'The chain is stopped until this is resolved');
  else logger[failureLevel(error)](fields, 'Ingestion was interrupted, resuming from the last commit');
  const saving = database.until(AbortSignal.timeout(LAST_WORD_MS));
  try {
    await saveStall(saving, fullnodes.network, errorText(error));
    if (stopping) await saveStop(saving, fullnodes.network, error);
  } catch (databaseError) {
    const facts = { chain, error: errorText(databaseError) };
    logger[failureLevel(databaseError)](facts, 'The reason could not be written to the database');
  }
  if (stopping) return 'stopped';
  const isLost = error instanceof DatabaseError && error.code === 'LEADERSHIP_LOST';
  return isLost || error instanceof DatabaseUnavailableError ? 'away' : 'failed';
}
