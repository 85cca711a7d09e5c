import { randomUUID } from 'node:crypto';
import { type Clock, defineError, errorText, type Logger, within } from '@chainstead/core';
import type { Company, SharedBudget, SlotSpending } from './shared-budget.ts';

interface SpendingExchange {
  begin(): void;
  /** The store's clock, epoch milliseconds. */
  now(): number;
  readonly company: Company;
  /** 0 while this one counts alone. */
  readonly processes: number;
  spent(budget: SharedBudget): void;
  /** Resolves when the spending so far is reported, or the report failed. */
  reported(budget: SharedBudget): Promise<void>;
  close(): Promise<void>;
}

interface SpendingExchangeOptions {
  readonly store: SpendingStore | null;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  /** @default 1000 */
  readonly timeoutMs?: number;
  /** Whether other processes share budgets with this one while the store is away. @default true */
  readonly isCounted?: boolean;
}

/** Maximum delay of a report. */
const REPORT_MS = 100;
const TIMEOUT_MS = 1_000;
const RETRY_MS = 1_000;
const ATTEND_MS = 5_000;
const ALONE_AFTER = 2;
const TOGETHER: Company = { share: 1, hasOthers: true };
const ONLY: Company = { share: 1, hasOthers: false };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what waits, what is under way and whether the store is there are one state.
export function createSpendingExchange(options: SpendingExchangeOptions): SpendingExchange {
  const { store, clock, logger, timeoutMs = TIMEOUT_MS, isCounted = true } = options;
  const self = randomUUID();
  let waiting = new Map<string, SharedBudget>();
  let underWay: ReadonlyMap<string, SharedBudget> = new Map();
  let current = Promise.withResolvers<void>();
  let next = Promise.withResolvers<void>();
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isUrgent = false;
  let isAway = false;
  let isClosed = false;
  let processes = 1;
  let foundNobody = 0;
  let attendance: NodeJS.Timeout | null = null;
  /** Offset of the store's clock to the local one. */
  let ahead = 0;

  const now = (): number => clock.now() + ahead;

  function schedule(): void {
    if (isClosed || running !== null || waiting.size === 0) return;
    if (isUrgent && !isAway) {
      isUrgent = false;
      running = new Promise<void>((resolve) => setImmediate(resolve)).then(exchange).finally(ended);
    } else
      timer ??= setTimeout(
        () => {
          timer = null;
          running ??= exchange().finally(ended);
        },
        isAway ? RETRY_MS : REPORT_MS,
      ).unref();
  }

  function ended(): void {
    running = null;
    schedule();
  }

  const inTime = <T>(work: Promise<T>): Promise<T> =>
    within(timeoutMs, work, () => {
      throw new LimitsStoreSilentError(timeoutMs);
    });

  async function exchange(): Promise<void> {
    if (store === null) return;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    [current, next] = [next, Promise.withResolvers<void>()];
    [underWay, waiting] = [waiting, new Map()];
    try {
      const reports = [...underWay.values()].flatMap(reportOf);
      if (reports.length > 0) take(await inTime(store.exchange(reports)));
    } catch (error) {
      for (const budget of underWay.values()) {
        budget.notReported();
        waiting.set(budget.bucket, budget);
      }
      lost(error);
    }
    underWay = new Map();
    current.resolve();
  }

  function reportOf(budget: SharedBudget): SpendingReport[] {
    const { bucket, slotMs } = budget;
    const amount = budget.takeUnreported(now());
    return amount === 0 ? [] : [{ bucket, amount, slotMs }];
  }

  function take(stored: StoredSpending): void {
    ahead = stored.now - clock.now();
    for (const [bucket, spending] of stored.buckets) underWay.get(bucket)?.reported(spending, stored.now);
    if (!isAway) return;
    isAway = false;
    logger.info({ processes }, 'Limits count over all processes again');
  }

  function lost(error: unknown): void {
    if (isAway || isClosed) return;
    isAway = true;
    logger.warn(
      { error: errorText(error), processes },
      'Limits can not be counted over all processes: until the shared store responds, each process enforces its share',
    );
  }

  async function attend(attended: SpendingStore): Promise<void> {
    try {
      processes = await inTime(attended.attend(self));
      foundNobody = processes === 1 ? foundNobody + 1 : 0;
    } catch (error) {
      foundNobody = 0;
      logger.debug({ error: errorText(error) }, 'Processes that count limits were not counted');
    }
  }

  function company(): Company {
    if (store === null || isClosed) return ONLY;
    if (isAway) return { share: 1 / processes, hasOthers: false };
    return foundNobody >= ALONE_AFTER ? ONLY : TOGETHER;
  }

  return {
    now,
    begin() {
      if (store === null || attendance !== null || isClosed || !isCounted) return;
      attendance = setInterval(() => void attend(store), ATTEND_MS).unref();
      void attend(store);
    },
    get company() {
      return company();
    },
    get processes() {
      return store === null || isAway ? 0 : processes;
    },
    spent(budget) {
      if (store === null) return;
      waiting.set(budget.bucket, budget);
      if (budget.isUrgent && company().hasOthers) isUrgent = true;
      if (timer === null || isUrgent) schedule();
    },
    reported(budget) {
      // Spending since the start of the current exchange is reported with the next one.
      if (underWay.get(budget.bucket) === budget) return current.promise;
      waiting.set(budget.bucket, budget);
      isUrgent = true;
      schedule();
      return next.promise;
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      isClosed = true;
      if (attendance !== null) clearInterval(attendance);
      await running;
      if (waiting.size > 0 && !isAway) await exchange();
    },
  };
}

/** The limit store timed out; it may have counted the report anyway. */
class LimitsStoreSilentError extends defineError('LIMITS_STORE_SILENT', (timeoutMs: number) => ({
  message: `The rate limit store did not respond within ${timeoutMs} ms`,
  remedy: 'Check the load of the Postgres server. Limits are shared again once it responds',
  retryable: true,
})) {}

export interface SpendingReport {
  readonly bucket: string;
  readonly amount: number;
  readonly slotMs: number;
}

interface StoredSpending {
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
  readonly buckets: ReadonlyMap<string, readonly SlotSpending[]>;
}

export interface SpendingStore {
  /** To the current slot. Buckets must differ. @returns the totals of the same buckets */
  exchange(reports: readonly SpendingReport[]): Promise<StoredSpending>;
  /** @returns the number of processes that registered recently, including this one */
  attend(process: string): Promise<number>;
}

export const ATTENDANCE_SECONDS = 30;
