/** Slots of a window: spending expires slot by slot. */
export const SLOTS = 16;

/** Spending in one slot of a window. Slots are numbered from the Unix epoch. */
export interface SlotSpending {
  readonly slot: number;
  readonly amount: number;
}

/** Spending over a rolling window. Times are epoch milliseconds. */
export interface RollingWindow {
  /** Milliseconds of one slot. */
  readonly slotMs: number;
  /** Returns milliseconds until this amount fits the budget; 0: now. Spends nothing. */
  waitFor(amount: number, budget: number, now: number): number;
  spend(amount: number, now: number): void;
  /** Returns the spending within the window. */
  total(now: number): number;
  /** Replaces all spending with the given slots. */
  replace(spending: readonly SlotSpending[], now: number): void;
}

/**
 * Creates sums over a rolling window without timers: a ring of slots. An amount above the whole budget is allowed if
 * nothing was spent.
 * @param windowMs milliseconds
 */
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
        // The store's clock may already be in a slot that the local clock has not reached; it counts as the newest
        // local slot.
        const known = Math.min(slot, newest);
        if (known <= newest - SLOTS) continue;
        spent[known % SLOTS] = (spent[known % SLOTS] ?? 0) + amount;
        sum += amount;
      }
    },
  };
}
