/** Parts of a window: what was spent is forgotten part by part. */
export const SLOTS = 16;

/** What was spent in one part of a window. Slots are numbered from the Unix epoch on. */
export interface SlotSpending {
  readonly slot: number;
  readonly amount: number;
}

/** What was spent over the last part of time. Times are epoch milliseconds. */
export interface RollingWindow {
  /** Milliseconds of one slot. */
  readonly slotMs: number;
  /** Milliseconds until so much more may be spent within the budget; 0: now. Nothing is spent yet. */
  waitFor(amount: number, budget: number, now: number): number;
  spend(amount: number, now: number): void;
  /** What was spent within the window. */
  total(now: number): number;
  /** Forgets everything and takes what is told instead. */
  replace(spending: readonly SlotSpending[], now: number): void;
}

/**
 * Sums over a rolling window, without timers: a ring of slots. Whatever costs more than the whole budget is allowed while
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
    // A clock that was set back far would keep what was spent for as long.
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
        // A slot that the store has begun and our clock has not is the newest that we know.
        const known = Math.min(slot, newest);
        if (known <= newest - SLOTS) continue;
        spent[known % SLOTS] = (spent[known % SLOTS] ?? 0) + amount;
        sum += amount;
      }
    },
  };
}
