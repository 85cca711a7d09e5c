import { createRollingWindow, type SlotSpending } from './rolling-window.ts';

/** Share of a budget that one process may spend before reporting it. */
const UNREPORTED_SHARE = 1 / 20;

/**
 * A rolling-window budget shared by all processes, as seen by one of them. Makes no calls itself: it signals when its
 * spending must be reported, and receives the total spending. Times are milliseconds of the store's clock.
 */
export interface SharedBudget {
  /** Its name in the store. */
  readonly bucket: string;
  /** Slot length of its window in milliseconds. */
  readonly slotMs: number;
  /** Returns milliseconds until this amount may be spent; 0: now. Null: earlier spending must be reported first. */
  waitFor(amount: number, now: number, company: Company): number | null;
  spend(amount: number, now: number): void;
  /** Whether half of the unreported allowance is used: reporting now spares later calls a wait. */
  readonly isUrgent: boolean;
  /** Returns the amount to report. It counts as in transit until `reported` or `notReported` is called. */
  takeUnreported(now: number): number;
  /** Confirms the report; `spending` is the total of all processes. */
  reported(spending: readonly SlotSpending[], now: number): void;
  /** Marks the report as failed. */
  notReported(): void;
}

/** The other processes that share the budgets. */
export interface Company {
  /** Share of each budget available to this process: less than 1 while it can't reach the others. */
  readonly share: number;
  /** Whether other processes may exist, which must learn of local spending. */
  readonly hasOthers: boolean;
}

export interface SharedBudgetOptions {
  readonly bucket: string;
  /** Maximum spending within the window. */
  readonly budget: number;
  readonly windowMs: number;
}

/** Returns the unreported allowance of one process: a twentieth of the budget, but at least one unit. */
export function unreportedMax(budget: number): number {
  return Math.max(1, Math.floor(budget * UNREPORTED_SHARE));
}

export function createSharedBudget({ bucket, budget, windowMs }: SharedBudgetOptions): SharedBudget {
  const block = unreportedMax(budget);
  /** Known spending of all processes, including this one. */
  const window = createRollingWindow(windowMs);
  let unreported = 0;
  let beingReported = 0;
  return {
    bucket,
    slotMs: window.slotMs,
    waitFor(amount, now, { share, hasOthers }) {
      const wait = window.waitFor(amount, share < 1 ? Math.max(1, Math.floor(budget * share)) : budget, now);
      if (wait > 0 || !hasOthers) return wait;
      const unknown = unreported + beingReported;
      // A single amount above the allowance passes if nothing else is unreported.
      return unknown > 0 && unknown + amount > block ? null : 0;
    },
    spend(amount, now) {
      window.spend(amount, now);
      unreported += amount;
    },
    get isUrgent() {
      return unreported * 2 >= block;
    },
    takeUnreported(now) {
      // After an outage: spending that has left the window is irrelevant.
      beingReported = Math.min(unreported, window.total(now));
      unreported = 0;
      return beingReported;
    },
    reported(spending, now) {
      beingReported = 0;
      window.replace(spending, now);
      if (unreported > 0) window.spend(unreported, now);
    },
    notReported() {
      unreported += beingReported;
      beingReported = 0;
    },
  };
}
