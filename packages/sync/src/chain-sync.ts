/**
 * One chain's ingestion: leads it (or stands by), follows the head, fills history and proves it, all at once. State lives
 * in the database; whatever fails, the session is thrown away and a new one goes on from the last commit.
 */
import type { ProofPolicy } from '@chainstead/chains';
import { ChainsteadError, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import {
  DatabaseError,
  DatabaseUnavailableError,
  failureLevel,
  type Leadership,
  tryAcquireLeadership,
} from '@chainstead/db';
import type { Head } from '@chainstead/rpc';
import type { ChainSyncOptions } from './chain-sync-options.ts';
import { type ChainState, readChainState, saveChainStart } from './checkpoint.ts';
import { type ClaimOwner, createClaimOwner } from './claims.ts';
import { listCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { datasetsOf } from './datasets-of.ts';
import { registerDerivedStates } from './derived/derived-record.ts';
import { keepForgetting } from './derived/forget-unasked.ts';
import { buildDerivedStates, keepDerivedStates } from './derived/keep-derived-states.ts';
import { type FillOptions, fillGaps, fillHistory } from './fill-history.ts';
import { follow } from './follower.ts';
import { createKnownContracts } from './known-contracts.ts';
import { announceAgain } from './partitions/announce-partitions.ts';
import { keepSealing } from './partitions/seal-partitions.ts';
import { prove } from './prover.ts';
import { keepRetention } from './retention/keep-retention.ts';
import { settleRetention } from './retention/settle-retention.ts';
import {
  beginProgress,
  type ChainProgress,
  farStartText,
  type StatusReports,
  saveChainStop,
  saveStall,
  startStatusReports,
  startsAboveHead,
} from './status-reports.ts';
import { forgetLedChain } from './sync-metrics.ts';

export interface ChainSync {
  /**
   * Runs until the signal aborts, or until everything up to the end block is covered. Never rejects for what a node or
   * the database does: it says why in status, metric and log, and tries again.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** For a last word to the database, which may be what fell silent. */
const LAST_WORD_MS = 5_000;
const STANDBY_POLL_MS = 1_000;
const RESTART_DELAY_MS = 500;
const RESTART_DELAY_MAX_MS = 15_000;
/** A chain that stopped for a reason that needs the operator looks again so often. */
const STOPPED_RETRY_MS = 60_000;
/** Whoever stands by looks for a free lease, and after an outage for the database: each costs a connection and one statement. */
const WAITS_MS = { standby: STANDBY_POLL_MS, away: STANDBY_POLL_MS, stopped: STOPPED_RETRY_MS };
const CUT_OFF = 'Ended sessions of the former leader, which fell silent while it held what others wait for';
const PROVER_IDLE_MS = 1_000;
/** Behind the head by more blocks, the follower needs the upstreams more than the prover does. */
const BEHIND_BLOCKS = 10;

export function createChainSync(given: ChainSyncOptions): ChainSync {
  const options = { ...given, datasets: datasetsOf(given.chain, given.datasets) };
  return {
    run: async (signal) => {
      let progress = beginProgress(options.clock.now());
      let leader: string | null = null;
      for (let delay = RESTART_DELAY_MS; !signal.aborted; ) {
        const started = options.clock.now();
        const outcome = await leadOnce(options, progress, signal);
        if (outcome.kind === 'standby') {
          progress = beginProgress(options.clock.now());
          if (outcome.leader !== leader) {
            await forgetLedChain(options.metrics, options.chain.key);
            options.logger.info(
              { chain: options.chain.key, leader: outcome.leader },
              'Standing by: another process leads the chain',
            );
          }
          leader = outcome.leader;
        } else leader = null;
        if (outcome.kind === 'complete') return;
        if (signal.aborted) return;
        delay = options.clock.now() - started > 60_000 ? RESTART_DELAY_MS : Math.min(delay * 2, RESTART_DELAY_MAX_MS);
        await sleepUnlessAborted(options.clock, outcome.kind === 'failed' ? delay : WAITS_MS[outcome.kind], signal);
      }
    },
  };
}

type Outcome =
  | { readonly kind: 'complete' | 'failed' | 'stopped' | 'away' }
  | { readonly kind: 'standby'; readonly leader: string };

async function leadOnce(options: ChainSyncOptions, progress: ChainProgress, signal: AbortSignal): Promise<Outcome> {
  const { chain, database, logger, metrics } = options;
  let leadership: Leadership | null = null;
  let owner: ClaimOwner | null = null;
  try {
    const candidacy = await tryAcquireLeadership(database, `ingest:${chain.id}`, {
      onCutOff: (sessions) => logger.warn({ chain: chain.key, sessions }, CUT_OFF),
    });
    metrics.standby.set({ chain: chain.key }, candidacy.leadership === null ? 1 : 0);
    if (candidacy.leadership === null) return { kind: 'standby', leader: candidacy.leader };
    leadership = candidacy.leadership;
    metrics.leader.set({ chain: chain.key }, 1);
    leadership.lost.addEventListener('abort', () => metrics.leader.set({ chain: chain.key }, 0), { once: true });
    // A claim under way when the line falls silent would hold up the news of the loss.
    owner = await createClaimOwner(database.until(leadership.lost));
    const lost = AbortSignal.any([leadership.lost, owner.lost]);
    await runSession(
      { ...options, database: database.until(lost), leadership, owner },
      progress,
      AbortSignal.any([signal, lost]),
    );
    return { kind: 'complete' };
  } catch (error) {
    if (signal.aborted) return { kind: 'complete' };
    return await reportFailure(options, progress, reasonOf(error, leadership, owner));
  } finally {
    metrics.leader.set({ chain: chain.key }, 0);
    await closeQuietly(logger, owner);
    await closeQuietly(
      logger,
      leadership === null ? null : { close: () => leadership?.release() ?? Promise.resolve() },
    );
  }
}

/** What is under way when the leadership is lost fails for many reasons, of which the loss is the first. */
function reasonOf(error: unknown, ...held: readonly ({ readonly lost: AbortSignal } | null)[]): unknown {
  return held.find((lease) => lease?.lost.aborted === true)?.lost.reason ?? error;
}

type Led = ChainSyncOptions & { readonly owner: ClaimOwner; readonly leadership: Leadership };

async function runSession(options: Led, progress: ChainProgress, signal: AbortSignal): Promise<void> {
  const session = new AbortController();
  const stop = AbortSignal.any([signal, session.signal]);
  // From the very start: a chain whose upstreams give no head has to say so too.
  const reports = startStatusReports(options, progress, stop);
  const running: Promise<void>[] = [reports.stopped];
  try {
    const { head, state } = await prepare(options, stop);
    options.logger.info(
      {
        chain: options.chain.key,
        head: head.number,
        checkpoint: state.checkpoint?.number ?? null,
        history_start: state.historyStart,
        first_followed: state.firstFollowed,
      },
      'Leading the chain',
    );
    reports.begin(state);
    reports.progress({ head, checkpoint: state.checkpoint });
    await reportFarStart(options, head, state);
    const tended = { ...options, datasets: tendedDatasets(options) };
    // Before anything is written: what follows the rows of an empty chain from the first on need not be built.
    await registerDerivedStates(options.database, options.chain, tended.datasets);
    for (const { table } of tended.datasets) if (table.isPartitioned) await announceAgain(options.database, table.name);
    running.push(keepDerivedStates(tended, stop), keepForgetting(tended, stop));
    const { keep, proof: policy } = options.settings;
    const shared = { ...options, knownContracts: createKnownContracts(), policy, keep };
    const partitioned = { ...tended, keep };
    running.push(keepSealing(partitioned, stop), keepRetention(partitioned, stop));
    let finished = false;
    let filling = true;
    const prover = prove(
      {
        ...shared,
        rate: options.settings.proverRate,
        isBehind: () => reports.blocksBehind() > BEHIND_BLOCKS,
        isFilling: () => filling,
        onRate: reports.proving,
        idleMs: PROVER_IDLE_MS,
        finished: () => finished,
      },
      stop,
    );
    options.onFilling?.(true);
    const backfill = runBackfill(shared, state, stop).finally(() => {
      filling = false;
      options.onFilling?.(false);
    });
    const work = [runFollower(shared, state, reports, stop), backfill];
    running.push(prover, ...work);
    if (options.settings.endBlock === null)
      // Where the backfill fails, that ends the session.
      running.push(
        backfill.then(
          () => fillGaps(fillOptions(shared), stop),
          () => undefined,
        ),
      );
    const covered = Promise.all(work);
    // Whichever of them fails first ends the session.
    await Promise.race([covered, prover.then(() => covered)]);
    finished = true;
    if (options.settings.endBlock !== null) {
      await prover;
      await buildDerivedStates(options, stop);
    } else stop.throwIfAborted();
  } finally {
    session.abort(new ChainsteadError({ code: 'SESSION_ENDED', message: 'The session ended', retryable: true }));
    await Promise.allSettled(running);
  }
}

/** Datasets that have rows of the chain: those that are kept, and those of which the watcher writes some. */
function tendedDatasets({ chain, datasets, watcher }: ChainSyncOptions): readonly Dataset[] {
  return [...datasets, ...(watcher?.rows?.datasets(chain) ?? [])];
}

type Shared = Led & {
  readonly policy: ProofPolicy;
  readonly keep: ChainSyncOptions['settings']['keep'];
  readonly knownContracts: ReturnType<typeof createKnownContracts>;
};

async function runFollower(
  shared: Shared,
  state: ChainState,
  reports: StatusReports,
  signal: AbortSignal,
): Promise<void> {
  await follow(
    { ...shared, firstFollowed: state.firstFollowed, endBlock: shared.settings.endBlock, onProgress: reports.progress },
    state.checkpoint,
    signal,
  );
}

async function runBackfill(shared: Shared, state: ChainState, signal: AbortSignal): Promise<void> {
  await settleRetention({ ...shared, datasets: tendedDatasets(shared) }, signal);
  const progress = shared.onBackfill === undefined ? {} : { onProgress: shared.onBackfill };
  await fillHistory({ ...fillOptions(shared), ...progress }, state, signal);
}

function fillOptions(shared: Shared): FillOptions {
  const { endBlock, backfillOrder: order, backfillProof: proof } = shared.settings;
  return { ...shared, endBlock, order, proof, kind: 'add' };
}

/** Waits for a head, and fixes at the first start where following begins. */
async function prepare(options: ChainSyncOptions, signal: AbortSignal): Promise<{ head: Head; state: ChainState }> {
  const { chain, pool, database, settings } = options;
  const { value: head } = await pool.waitForHead(null, signal);
  const known = await readChainState(database, chain.id);
  const highestCovered = (await listCoverage(database, chain.id)).reduce(
    (highest, one) => Math.max(highest, one.range.to),
    -1,
  );
  const firstStart = head.number < (settings.wholeBelow ?? 0) ? chain.firstBlock : head.number;
  const historyStart = Math.max(chain.firstBlock, settings.startBlock ?? known?.historyStart ?? firstStart);
  const deepEnough = head.number - chain.reorgDepthMax;
  const firstFollowed = Math.max(
    historyStart,
    highestCovered + 1,
    Math.min(deepEnough, (settings.endBlock ?? deepEnough) + 1),
  );
  await saveChainStart(database, chain, historyStart, firstFollowed);
  const state = await readChainState(database, chain.id);
  if (state === null) throw new RangeError(`sync_chains lost the row of ${chain.key}`);
  return { head, state };
}

/** A start above the head is a mistake more often than a plan: nothing moves, and nothing else would say why. */
async function reportFarStart(
  { chain, database, logger }: ChainSyncOptions,
  head: Head,
  state: ChainState,
): Promise<void> {
  if (!startsAboveHead(state, head)) return;
  logger.warn(
    { chain: chain.key, head: head.number, history_start: state.historyStart },
    'START_BLOCK is above the head: nothing is indexed until the chain gets there',
  );
  await saveStall(database, chain.id, farStartText(state, head));
}

async function reportFailure(options: ChainSyncOptions, progress: ChainProgress, error: unknown): Promise<Outcome> {
  const { chain, database, logger } = options;
  if (error instanceof DatabaseUnavailableError) progress.databaseFailure = error.message;
  const stopping =
    error instanceof ChainsteadError && (error.code === 'REORG_TOO_DEEP' || error.code === 'UNPROVEN_BLOCK');
  const fields = {
    chain: chain.key,
    error: errorText(error),
    ...(error instanceof ChainsteadError ? { code: error.code } : {}),
  };
  if (stopping) logger.error(fields, 'The chain is stopped until this is resolved');
  else logger[failureLevel(error)](fields, 'Ingestion was interrupted, going on from the last commit');
  const saving = database.until(AbortSignal.timeout(LAST_WORD_MS));
  try {
    if (stopping) await saveChainStop(saving, chain.id, error);
    else await saveStall(saving, chain.id, errorText(error));
  } catch (databaseError) {
    logger[failureLevel(databaseError)](
      { chain: chain.key, error: errorText(databaseError) },
      'The reason could not be written to the database',
    );
  }
  const isAway =
    error instanceof DatabaseUnavailableError || (error instanceof DatabaseError && error.code === 'LEADERSHIP_LOST');
  return { kind: stopping ? 'stopped' : isAway ? 'away' : 'failed' };
}

async function closeQuietly(logger: Logger, closable: { close(): Promise<void> } | null): Promise<void> {
  try {
    await closable?.close();
  } catch (error) {
    logger.debug({ error: errorText(error) }, 'Closing failed; the connection is gone anyway');
  }
}
