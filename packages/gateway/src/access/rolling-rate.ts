/** The window over which rates are rolling, as the hosted provider's. Milliseconds. */
export const WINDOW_MS = 4_000;
/** Parts of the window: what was spent is forgotten part by part. */
const SLOTS = 16;
const SLOT_MS = WINDOW_MS / SLOTS;

/** What one key may spend, over the last four seconds. */
export interface RollingRate {
  /** Milliseconds until so much may be spent; 0: now. Nothing is spent yet. */
  waitFor(amount: number, now: number): number;
  spend(amount: number, now: number): void;
}

/**
 * A rate over a rolling window, without timers: a ring of sums. Whatever costs more than the whole window is allowed
 * while nothing was spent.
 * @param perSecond what may be spent a second, on average over the window
 */
export function createRollingRate(perSecond: number): RollingRate {
  const budget = perSecond * (WINDOW_MS / 1_000);
  const spent = new Float64Array(SLOTS);
  let sum = 0;
  let newest = 0;

  function forget(now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    const passed = Math.min(slot - newest, SLOTS);
    for (let step = 1; step <= passed; step += 1) {
      const at = (newest + step) % SLOTS;
      sum -= spent[at] ?? 0;
      spent[at] = 0;
    }
    if (passed > 0) newest = slot;
    if (passed === SLOTS) sum = 0;
  }

  return {
    waitFor(amount, now) {
      forget(now);
      if (sum <= 0 || sum + amount <= budget) return 0;
      let freed = 0;
      for (let step = 1; step <= SLOTS; step += 1) {
        freed += spent[(newest + step) % SLOTS] ?? 0;
        if (sum - freed + amount <= budget || sum - freed <= 0) return (newest + step) * SLOT_MS - now;
      }
      return WINDOW_MS;
    },
    spend(amount, now) {
      forget(now);
      const at = newest % SLOTS;
      spent[at] = (spent[at] ?? 0) + amount;
      sum += amount;
    },
  };
}
