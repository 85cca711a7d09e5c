/** Leads or stands by, follows, backfills and proves. A session resumes from the last commit. */
import { ChainsteadError, errorText } from '@chainstead/core';
import { DatabaseUnavailableError, type Leadership } from '@chainstead/db';
import { type Head, inBackground } from '@chainstead/rpc';
import { FilesLackBlocksError } from '@chainstead/sources';
import type { BackfillProgress } from './backfill/backfill-options.ts';
import { type FillOptions, fillGaps, fillHistory } from './backfill/fill-history.ts';
import type { ChainSyncOptions } from './chain-sync-options.ts';
import { type ChainState, readChainState, saveChainStart } from './checkpoint.ts';
import { type ClaimOwner, createClaimOwner } from './coverage/claims.ts';
import { listCoverage } from './coverage/coverage.ts';
import type { Dataset } from './dataset/dataset.ts';
import { datasetsOf } from './dataset/datasets-of.ts';
import { type BlockGuard, openBlockGuard } from './follow/block-guard.ts';
import { follow } from './follow/follower.ts';
import { requireNotReset } from './follow/reconcile.ts';
import { endQuietly, lead } from './lead.ts';
import { announceAgain } from './partitions/ensure-partitions.ts';
import { buildProjections, keepForgetting, maintainProjections } from './projections/maintain-projections.ts';
import { registerProjections } from './projections/projection-record.ts';
import { REMOVAL_CODE, requireNotBeingRemoved } from './removal/remove-chain.ts';
import { enforceRetention, settleRetention } from './retention/enforce-retention.ts';
import { keepSealing } from './retention/seal-partitions.ts';
import { createKnownContracts } from './rows/known-contracts.ts';
import {
  beginProgress,
  type ChainProgress,
  farStartText,
  saveChainStop,
  saveStall,
  startStatusReports,
  startsAboveHead,
} from './status/status-reports.ts';
import { prove, proveRead } from './verify/prover.ts';

export interface ChainSync {
  /** Until the signal aborts or all blocks up to the end block are covered. Retries failures. */
  run(signal: AbortSignal): Promise<void>;
}

const PROVER_IDLE_MS = 1_000;
/** A fill without progress for this long waits for what may never come: the prover continues. */
const STALLED_FILL_MS = 600_000;
/** A follower further behind needs the upstreams more than the prover does. */
const BEHIND_BLOCKS = 10;

const STOPPING: ReadonlySet<string> = new Set([
  'REORG_TOO_DEEP',
  'CHAIN_RESET',
  'UNPROVEN_BLOCK',
  'FILES_LACK_BLOCKS',
  REMOVAL_CODE,
]);

export function createChainSync(settings: ChainSyncOptions): ChainSync {
  const options = { ...settings, datasets: datasetsOf(settings.chain, settings.datasets) };
  const { chain, clock } = options;
  return {
    run: (signal) => {
      let progress = beginProgress(clock.now());
      return lead(
        {
          ...options,
          chain: chain.key,
          lease: `ingest:${chain.id}`,
          stopCodes: STOPPING,
          session: (leadership, lasting) => claimAndRun(options, leadership, progress, lasting),
          standBy: () => {
            progress = beginProgress(clock.now());
          },
          saveFailure: async (saving, error, stop) => {
            if (error instanceof DatabaseUnavailableError) progress.failure = error.message;
            if (stop !== null) await saveChainStop(saving, chain.id, stop);
            else await saveStall(saving, chain.id, errorText(error));
          },
        },
        signal,
      );
    },
  };
}

type Led = ChainSyncOptions & { readonly owner: ClaimOwner; readonly leadership: Leadership };

async function claimAndRun(
  options: ChainSyncOptions,
  leadership: Leadership,
  progress: ChainProgress,
  signal: AbortSignal,
): Promise<void> {
  // A claim on a dead connection would delay the detection of lost leadership.
  const owner = await createClaimOwner(options.database.until(leadership.lost));
  try {
    const database = options.database.until(AbortSignal.any([leadership.lost, owner.lost]));
    await runSession(
      { ...options, database, leadership, owner },
      progress,
      AbortSignal.any([signal, owner.lost]),
    );
  } catch (error) {
    throw owner.lost.aborted ? owner.lost.reason : error;
  } finally {
    await endQuietly(options.logger, () => owner.close());
  }
}

async function runSession(options: Led, progress: ChainProgress, signal: AbortSignal): Promise<void> {
  const guard = await openBlockGuard(options);
  try {
    await runGuarded({ ...options, datasets: guard.datasets, guard }, progress, signal);
  } finally {
    guard.close();
  }
}

async function runGuarded(
  options: Led & { readonly guard: BlockGuard },
  progress: ChainProgress,
  signal: AbortSignal,
) {
  const session = new AbortController();
  const stop = AbortSignal.any([signal, session.signal]);
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
    // Before the first write: projections of an empty chain then need no build.
    await registerProjections(options.database, options.chain, tended.datasets);
    const tables = tended.datasets.map(({ table }) => table);
    await announceAgain(options.database, tables);
    running.push(maintainProjections(tended, stop), keepForgetting(tended, stop));
    const { retention, proof: policy } = options.settings;
    const shared = { ...options, knownContracts: createKnownContracts(), policy, retention };
    const partitioned = { ...tended, retention };
    running.push(keepSealing(partitioned, stop), enforceRetention(partitioned, stop));
    const history = { ...shared, pool: inBackground(options.pool) };
    let finished = false;
    const filling = createFillWatch(options);
    const { endBlock, verifyBlocksPerSecond: rate } = options.settings;
    const prover = prove(
      {
        ...{ ...history, rate, onRate: reports.proving, idleMs: PROVER_IDLE_MS },
        isBehind: () => reports.blocksBehind() > BEHIND_BLOCKS,
        isFilling: filling.isUnderWay,
        finished: () => finished,
      },
      stop,
    );
    options.onFilling?.(true);
    const fill: FillOptions = { ...history, ...fillSettings(options), ...filling };
    const backfill = runBackfill(history, fill, state, stop).finally(() => {
      filling.onFilling(false);
      options.onFilling?.(false);
    });
    const following = { ...shared, firstFollowed: state.firstFollowed, endBlock, onProgress: reports.progress };
    const followed = follow(following, state.checkpoint, stop).catch(async (error: unknown) => {
      if (error instanceof FilesLackBlocksError) {
        progress.failure = error.message;
        // Blocks below a hole in the files are indexed first: each retry ends the session.
        await backfill;
      }
      throw error;
    });
    const work = [followed, backfill];
    running.push(prover, ...work);
    if (endBlock === null)
      running.push(
        backfill.then(
          () => fillGaps(fill, stop),
          () => undefined,
        ),
      );
    const covered = Promise.all(work);
    await Promise.race([covered, prover.then(() => covered)]);
    finished = true;
    if (endBlock !== null) {
      await prover;
      await buildProjections(options, stop);
    } else stop.throwIfAborted();
  } finally {
    session.abort(new ChainsteadError({ code: 'SESSION_ENDED', message: 'The session ended', retryable: true }));
    await Promise.allSettled(running);
  }
}

function fillSettings({ settings }: ChainSyncOptions) {
  const { endBlock, backfillOrder: order, backfillProof: proof, verifyBlocksPerSecond } = settings;
  return { endBlock, order, proof, kind: 'add', ...(verifyBlocksPerSecond !== 0 && { proveRead }) } as const;
}

function createFillWatch({ clock, onBackfill }: ChainSyncOptions) {
  let isFilling = true;
  let progressAt = clock.now();
  return {
    isUnderWay: (): boolean => isFilling && clock.now() - progressAt < STALLED_FILL_MS,
    onFilling(isNow: boolean): void {
      isFilling = isNow;
      progressAt = clock.now();
    },
    onProgress(progress: BackfillProgress): void {
      progressAt = clock.now();
      onBackfill?.(progress);
    },
  };
}

function tendedDatasets({ chain, datasets, watcher }: ChainSyncOptions): readonly Dataset[] {
  return [...datasets, ...(watcher?.rows?.datasets(chain) ?? [])];
}

async function runBackfill(
  options: Led,
  fill: FillOptions,
  state: ChainState,
  signal: AbortSignal,
): Promise<void> {
  const { retention } = options.settings;
  await settleRetention({ ...options, retention, datasets: tendedDatasets(options) }, signal);
  await fillHistory(fill, state, signal);
}

async function prepare(
  options: ChainSyncOptions,
  signal: AbortSignal,
): Promise<{ head: Head; state: ChainState }> {
  const { chain, pool, database, settings } = options;
  await requireNotBeingRemoved(database, chain);
  const { value: head } = await pool.waitForHead(null, signal);
  await requireNotReset(options, head.number, signal);
  const before = await readChainState(database, chain.id);
  const coverage = await listCoverage(database, chain.id);
  const highestCovered = coverage.reduce((highest, { range }) => Math.max(highest, range.to), -1);
  const firstStart = head.number < (settings.wholeBelow ?? 0) ? chain.firstBlock : head.number;
  const historyStart = Math.max(chain.firstBlock, settings.startBlock ?? before?.historyStart ?? firstStart);
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

/** Usually a mistake, and nothing else shows why no block is indexed. */
async function reportFarStart({ chain, database, logger }: ChainSyncOptions, head: Head, state: ChainState) {
  if (!startsAboveHead(state, head)) return;
  logger.warn(
    { chain: chain.key, head: head.number, history_start: state.historyStart },
    'START_BLOCK is above the head: nothing is indexed until the chain reaches it',
  );
  await saveStall(database, chain.id, farStartText(state, head));
}
