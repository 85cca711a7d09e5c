const UNREPORTED_SHARE = 1 / 20;

/** One process's view of a rolling-window budget. Milliseconds of the store's clock. */
export interface SharedBudget {
  readonly bucket: string;
  readonly slotMs: number;
  /** Milliseconds; 0: now. Null: earlier spending must be reported first. */
  waitFor(amount: number, now: number, company: Company): number | null;
  spend(amount: number, now: number): void;
  readonly isUrgent: boolean;
  takeUnreported(now: number): number;
  /** `spending` is the total of all processes. */
  reported(spending: readonly SlotSpending[], now: number): void;
  notReported(): void;
}

export interface Company {
  /** Part of each budget: below 1 while the other processes can't be reached. */
  readonly share: number;
  /** Other processes must learn of local spending. */
  readonly hasOthers: boolean;
}

interface SharedBudgetOptions {
  readonly bucket: string;
  readonly budget: number;
  readonly windowMs: number;
}

export function unreportedMax(budget: number): number {
  return Math.max(1, Math.floor(budget * UNREPORTED_SHARE));
}

export function createSharedBudget({ bucket, budget, windowMs }: SharedBudgetOptions): SharedBudget {
  const block = unreportedMax(budget);
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

/** Spending expires slot by slot. */
export const SLOTS = 16;

/** Slots are numbered from the Unix epoch. */
export interface SlotSpending {
  readonly slot: number;
  readonly amount: number;
}

/** Times are epoch milliseconds. */
interface RollingWindow {
  readonly slotMs: number;
  /** Milliseconds; 0: now. Spends nothing. */
  waitFor(amount: number, budget: number, now: number): number;
  spend(amount: number, now: number): void;
  total(now: number): number;
  replace(spending: readonly SlotSpending[], now: number): void;
}

/** Without timers. More than the whole budget is allowed if nothing was spent. */
export function createRollingWindow(windowMs: number): RollingWindow {
  const slotMs = windowMs / SLOTS;
  const spent = new Float64Array(SLOTS);
  let sum = 0;
  let newest = 0;

  function forget(now: number): void {
    const slot = Math.floor(now / slotMs);
    // If the clock is set back far, spending must not persist that long.
    const passed = slot < newest - SLOTS ? SLOTS : Math.min(slot - newest, SLOTS);
    for (let step = 1; step <= passed; step += 1) {
      const at = (newest + step) % SLOTS;
      sum -= spent[at] ?? 0;
      spent[at] = 0;
    }
    if (passed > 0) newest = slot;
    if (passed === SLOTS) sum = 0;
  }

  function spend(amount: number, now: number): void {
    forget(now);
    const at = newest % SLOTS;
    spent[at] = (spent[at] ?? 0) + amount;
    sum += amount;
  }

  return {
    slotMs,
    spend,
    waitFor(amount, budget, now) {
      forget(now);
      if (sum <= 0 || sum + amount <= budget) return 0;
      let freed = 0;
      for (let step = 1; step <= SLOTS; step += 1) {
        freed += spent[(newest + step) % SLOTS] ?? 0;
        if (sum - freed + amount <= budget || sum - freed <= 0) return (newest + step) * slotMs - now;
      }
      return windowMs;
    },
    total(now) {
      forget(now);
      return sum;
    },
    replace(spending, now) {
      spent.fill(0);
      sum = 0;
      newest = Math.floor(now / slotMs);
      for (const { slot, amount } of spending) {
        // The store's clock may be a slot ahead: that counts as the newest local slot.
        const known = Math.min(slot, newest);
        if (known <= newest - SLOTS) continue;
        spent[known % SLOTS] = (spent[known % SLOTS] ?? 0) + amount;
        sum += amount;
      }
    },
  };
}
