import { type Clock, type Logger, type Registry, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel, outageOr } from '@chainstead/db';
import { beginQueueMetrics, createJobMetrics, measureDepth } from '../job-metrics.ts';
import { claimDue, msUntilDue, readDueDepth } from './due-table.ts';
import { type ClaimRunnerOptions, createClaimRunner, type DueKind } from './run-claims.ts';

export interface ClaimLoop {
  wake(): void;
  /** For rows without notification. Never rejects. */
  sweep(): Promise<void>;
  renew(signal: AbortSignal): Promise<void>;
  idle(): Promise<void>;
}

export interface ClaimLoopOptions
  extends Pick<ClaimRunnerOptions, 'database' | 'journal' | 'leaseMs' | 'ending'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly sweepEveryMs: number;
  readonly stopping: AbortSignal;
  nameClaim(): string;
}

export function createClaimLoop<Row extends object>(kind: DueKind<Row>, options: ClaimLoopOptions): ClaimLoop {
  const { name, chain, table, returning, concurrency, batch = 1 } = kind;
  const { database, clock, logger, stopping } = options;
  const metrics = createJobMetrics(options.metrics);
  const leaseMs = Math.min(kind.leaseMs ?? Infinity, options.leaseMs);
  const label = `${name}-${chain.key}`;
  beginQueueMetrics(metrics, label);
  const unwatch = measureDepth(label, () => readDueDepth(database, table, chain.id), options);
  let filling: Promise<void> | null = null;
  let isWanted = false;
  const runner = createClaimRunner(kind, {
    ...options,
    leaseMs,
    finished(outcome, seconds) {
      metrics.jobs.inc({ queue: label, outcome });
      metrics.jobSeconds.observe({ queue: label }, seconds);
    },
    onRoom: fillIfWanted,
  });

  function fillIfWanted(): void {
    if (isWanted && runner.atWork() < concurrency && !stopping.aborted) void fill();
  }

  function fill(): Promise<void> {
    isWanted = true;
    filling ??= claimWhileDue().finally(() => {
      filling = null;
      fillIfWanted();
    });
    return filling;
  }

  async function claimWhileDue(): Promise<void> {
    for (;;) {
      const limit = (concurrency - runner.atWork()) * batch;
      if (!isWanted || limit <= 0 || stopping.aborted) return;
      isWanted = false;
      try {
        const holder = options.nameClaim();
        const wanted = { chainId: chain.id, limit, leaseMs, holder, returning };
        const claims = await claimDue<Row>(database, table, wanted);
        for (let at = 0; at < claims.length; at += batch) runner.begin(claims.slice(at, at + batch));
        if (claims.length > 0) sweep.noteWork();
        isWanted ||= claims.length === limit;
      } catch (error) {
        sweep.noteWork();
        reportFailure(error);
      }
    }
  }

  function reportFailure(error: unknown): void {
    logger[failureLevel(outageOr(error))](
      { work: label, err: error },
      'Due work could not be claimed or renewed',
    );
  }

  const sweep = createSweep({
    clock,
    stopping,
    sweepEveryMs: Math.min(kind.sweepEveryMs ?? Infinity, options.sweepEveryMs),
    msUntilDue: (withinMs) => msUntilDue(database, table, chain.id, withinMs),
    fill,
    isAtWork: () => runner.atWork() > 0,
    reportFailure,
  });

  return {
    wake() {
      // Sweeps often for now: the claiming process may die, and its lease expires soon.
      sweep.noteWork();
      void fill();
    },
    sweep: () => sweep.run(),
    async renew(signal) {
      while (!signal.aborted) {
        await sleepUnlessAborted(clock, leaseMs / 4, signal);
        await runner.renew().catch(reportFailure);
      }
    },
    async idle() {
      unwatch();
      await filling;
      await runner.idle();
    },
  };
}

interface SweepOptions {
  readonly clock: Clock;
  readonly sweepEveryMs: number;
  readonly stopping: AbortSignal;
  /** Null: none within `withinMs`. */
  msUntilDue(withinMs: number): Promise<number | null>;
  fill(): Promise<void>;
  isAtWork(): boolean;
  reportFailure(error: unknown): void;
}

const BUSY_SWEEP_MS = 2_000;

function createSweep(options: SweepOptions) {
  const { clock, sweepEveryMs, stopping, fill } = options;
  const busySweepMs = Math.min(BUSY_SWEEP_MS, sweepEveryMs);
  let isBusy = false;
  let rest = new AbortController();

  const restFor = (ms: number) => sleepUnlessAborted(clock, ms, AbortSignal.any([stopping, rest.signal]));

  async function sweep(): Promise<void> {
    rest = new AbortController();
    if (isBusy) {
      isBusy = options.isAtWork();
      await sleepUnlessAborted(clock, busySweepMs, stopping);
      return fill();
    }
    const ms = await options.msUntilDue(sweepEveryMs);
    if (ms === null || ms > 0) return restFor(ms ?? sweepEveryMs);
    await fill();
    if (!isBusy) await restFor(busySweepMs);
  }

  function noteWork(): void {
    isBusy = true;
    rest.abort();
  }

  return {
    noteWork,
    /** Never rejects. */
    async run(): Promise<void> {
      await fill();
      while (!stopping.aborted)
        try {
          await sweep();
        } catch (error) {
          noteWork();
          options.reportFailure(error);
        }
    },
  };
}
