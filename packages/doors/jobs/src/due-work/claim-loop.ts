import {
  ChainsteadError,
  type Clock,
  errorText,
  type Logger,
  type Registry,
  sleepUnlessAborted,
} from '@chainstead/core';
import {
  type Database,
  failureLevel,
  isOutage,
  outageOr,
  type RiskyWork,
  type Sql,
  type WorkJournal,
  WorkSetAsideError,
} from '@chainstead/db';
import { beginQueueMetrics, createJobMetrics, measureDepth } from '../job-metrics.ts';
import {
  type Claim,
  claimDue,
  type DueTable,
  failDue,
  msUntilDue,
  readDueDepth,
  releaseDue,
  renewDue,
} from './due-table.ts';

export interface ClaimLoop {
  wake(): void;
  /** For rows without notification. Never rejects. */
  sweep(): Promise<void>;
  renew(signal: AbortSignal): Promise<void>;
  idle(): Promise<void>;
}

interface ClaimLoopOptions extends Pick<ClaimRunnerOptions, 'database' | 'journal' | 'leaseMs' | 'ending'> {
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

interface Risk<Row> {
  readonly kind: RiskyWork['kind'];
  readonly keyOf: (row: Row) => string;
  readonly originOf?: (row: Row) => string;
}

export interface DueKind<Row extends object> {
  readonly name: string;
  readonly chain: { readonly id: number; readonly key: string };
  readonly table: DueTable;
  readonly returning: Sql | string;
  readonly concurrency: number;
  /** Claims performed together. @default 1 */
  readonly batch?: number;
  /** @default as in `DueWorkOptions` */
  readonly sweepEveryMs?: number;
  /** @default as in `DueWorkOptions` */
  readonly leaseMs?: number;
  /** Absent: the work writes its own journal entries. */
  readonly risk?: Risk<Row>;
  /** Retries quarantined work after `retrySeconds` instead of a day. */
  readonly endsInQuarantine?: boolean;
  /** An outage is an attempt: work that begins with many calls must not begin again at once. @default false */
  readonly countsOutages?: boolean;
  /** Ends the claims ({@link SETTLED}). May run twice for a row. An error fails open claims. */
  perform(claims: readonly Claim<Row>[], signal: AbortSignal): Promise<void>;
  /** Null: no further attempt. */
  retrySeconds(claim: Claim<Row>, error: unknown): number | null;
  tidy?(): Promise<void>;
}

/** `retried`: a ChainsteadError; `failed`: an unexpected error. */
type WorkOutcome = 'completed' | 'retried' | 'failed' | 'interrupted';

interface ClaimRunnerOptions {
  readonly database: Database;
  readonly journal: Pick<WorkJournal, 'run' | 'suspects'>;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly ending: AbortSignal;
  finished(outcome: WorkOutcome, seconds: number): void;
  onRoom(): void;
}

/** In case the row is deleted from `quarantined_work`. */
const QUARANTINE_SECONDS = 86_400;

function createClaimRunner<Row extends object>(kind: DueKind<Row>, options: ClaimRunnerOptions) {
  const { table, chain, risk } = kind;
  const { database, journal, logger, leaseMs, ending } = options;
  const fields = { work: kind.name, chain: chain.key };
  const groups = new Map<
    Promise<void>,
    { readonly claims: readonly Claim<Row>[]; readonly lost: AbortController }
  >();

  function riskOf(claims: readonly Claim<Row>[], { keyOf, originOf, kind: of }: Risk<Row>): RiskyWork {
    const keys = claims.map(({ row }) => keyOf(row));
    const [first] = claims;
    const origin = first === undefined ? undefined : originOf?.(first.row);
    return { kind: of, keys, ...(origin !== undefined && { origin }) };
  }

  async function runGroup(claims: readonly Claim<Row>[], signal: AbortSignal): Promise<void> {
    if (risk === undefined || claims.length === 1) return runTogether(claims, signal);
    const suspects = await journal.suspects(riskOf(claims, risk));
    const isSuspect = ({ row }: Claim<Row>): boolean => suspects.has(risk.keyOf(row));
    const clear = claims.filter((claim) => !isSuspect(claim));
    if (clear.length > 0) await runTogether(clear, signal);
    for (const claim of claims.filter(isSuspect)) await runTogether([claim], signal);
  }

  async function runTogether(claims: readonly Claim<Row>[], signal: AbortSignal): Promise<void> {
    const began = performance.now();
    const finished = (outcome: WorkOutcome): void =>
      options.finished(outcome, (performance.now() - began) / 1_000);
    try {
      const perform = (): Promise<void> => kind.perform(claims, signal);
      await (risk === undefined ? perform() : journal.run(riskOf(claims, risk), perform));
      finished('completed');
    } catch (error) {
      const isInterrupted = signal.aborted || (kind.countsOutages !== true && isOutage(outageOr(error)));
      const isKnown = error instanceof ChainsteadError;
      finished(isInterrupted ? 'interrupted' : isKnown ? 'retried' : 'failed');
      if (isInterrupted) return endAll(claims, (claim) => releaseDue(database, table, claim));
      const [first] = claims;
      logger[isKnown ? 'warn' : 'error']({ ...first?.row, ...fields, err: error }, 'Due work failed');
      await endAll(claims, (claim) => {
        // Invariant: WORK-QUARANTINE
        const isQuarantined = error instanceof WorkSetAsideError && kind.endsInQuarantine !== true;
        const retrySeconds = isQuarantined ? QUARANTINE_SECONDS : kind.retrySeconds(claim, error);
        return failDue(database, table, claim, { error, retrySeconds });
      });
    }
  }

  /** If the end can't be stored, the row is due when its lease ends. */
  async function endAll(claims: readonly Claim<Row>[], end: (claim: Claim<Row>) => Promise<void>): Promise<void> {
    try {
      for (const claim of claims) await end(claim);
    } catch (error) {
      logger[failureLevel(outageOr(error))](
        { ...fields, error: errorText(error) },
        'The end of due work was not stored',
      );
    }
  }

  return {
    atWork: () => groups.size,
    begin(claims: readonly Claim<Row>[]) {
      const lost = new AbortController();
      const work = runGroup(claims, AbortSignal.any([ending, lost.signal]))
        .catch((error: unknown) => logger.error({ ...fields, err: error }, 'Due work could not be begun'))
        .finally(() => {
          groups.delete(work);
          options.onRoom();
        });
      groups.set(work, { claims, lost });
    },
    async renew(): Promise<void> {
      for (const { claims, lost } of groups.values()) {
        const held = await Promise.all(claims.map((claim) => renewDue(database, table, claim, leaseMs)));
        if (!held.includes(true)) lost.abort(new Error('Another process has claimed the work'));
      }
    },
    async idle(): Promise<void> {
      while (groups.size > 0) await Promise.all(groups.keys());
    },
  };
}
