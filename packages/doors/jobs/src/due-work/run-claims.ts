import { ChainsteadError, errorText, type Logger } from '@chainstead/core';
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
import { type Claim, type DueTable, failDue, releaseDue, renewDue } from './due-table.ts';

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
export type WorkOutcome = 'completed' | 'retried' | 'failed' | 'interrupted';

export interface ClaimRunnerOptions {
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

export function createClaimRunner<Row extends object>(kind: DueKind<Row>, options: ClaimRunnerOptions) {
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
