import { createRollingWindow, type SlotSpending } from './rolling-window.ts';

/** The part of a budget that one process may spend before the others know of it. */
const UNTOLD_SHARE = 1 / 20;

/**
 * What may be spent of one thing over a rolling window by all processes together, as one of them sees it. Makes no call:
 * it says when it must be told to the others, and is told what all have spent. Times are milliseconds of the store's clock.
 */
export interface SharedBudget {
  /** Its name in the store. */
  readonly bucket: string;
  /** Milliseconds of a slot of its window. */
  readonly slotMs: number;
  /** Milliseconds until so much may be spent; 0: now. Null: the others must hear first what was spent already. */
  waitFor(amount: number, now: number, company: Company): number | null;
  spend(amount: number, now: number): void;
  /** Whether half of what may be spent untold is spent: telling it now spares the next ones a wait. */
  readonly isUrgent: boolean;
  /** What is to be told, which counts as being told until one of the next two follows. */
  takeUntold(now: number): number;
  /** It was told; this is what all have spent. */
  told(spending: readonly SlotSpending[], now: number): void;
  /** It could not be told. */
  notTold(): void;
}

/** Who spends of the same budgets. */
export interface Company {
  /** The part of each budget that this process may count with: less than 1 while it can't hear of the others. */
  readonly share: number;
  /** Whether there may be others, who must hear what is spent here. */
  readonly hasOthers: boolean;
}

export interface SharedBudgetOptions {
  readonly bucket: string;
  /** What may be spent within the window. */
  readonly budget: number;
  readonly windowMs: number;
}

/** What one process may spend before the others know: a twentieth of the budget, but at least one unit. */
export function untoldMax(budget: number): number {
  return Math.max(1, Math.floor(budget * UNTOLD_SHARE));
}

export function createSharedBudget({ bucket, budget, windowMs }: SharedBudgetOptions): SharedBudget {
  const block = untoldMax(budget);
  /** What all have spent as far as it is known here, own spending included. */
  const window = createRollingWindow(windowMs);
  let untold = 0;
  let beingTold = 0;
  return {
    bucket,
    slotMs: window.slotMs,
    waitFor(amount, now, { share, hasOthers }) {
      const wait = window.waitFor(amount, share < 1 ? Math.max(1, Math.floor(budget * share)) : budget, now);
      if (wait > 0 || !hasOthers) return wait;
      const unknown = untold + beingTold;
      // What costs more than the block by itself is let through when nothing else is unknown.
      return unknown > 0 && unknown + amount > block ? null : 0;
    },
    spend(amount, now) {
      window.spend(amount, now);
      untold += amount;
    },
    get isUrgent() {
      return untold * 2 >= block;
    },
    takeUntold(now) {
      // After an outage: what the window has forgotten concerns nobody.
      beingTold = Math.min(untold, window.total(now));
      untold = 0;
      return beingTold;
    },
    told(spending, now) {
      beingTold = 0;
      window.replace(spending, now);
      if (untold > 0) window.spend(untold, now);
    },
    notTold() {
      untold += beingTold;
      beingTold = 0;
    },
  };
}
