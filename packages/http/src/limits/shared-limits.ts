import { type Clock, Gauge, type Logger, type Registry, silentLogger, systemClock } from '@chainstead/core';
import { LRUCache } from 'lru-cache';
import { createSharedBudget, type SharedBudget } from './shared-budget.ts';
import { createSpendingExchange } from './spending-exchange.ts';
import type { SpendingStore } from './spending-store.ts';

/**
 * Limits that count over all processes that share a store, without asking it for each request.
 *
 * A process spends of a budget at once, by what it knows that all have spent, and tells the store a moment later (100 ms), which
 * answers with what all have spent. What it may spend before the others know is bounded, by a twentieth of the budget but at
 * least one unit: whatever comes on top waits for one exchange, about a millisecond. So with n processes at most budget + n
 * times a twentieth passes in a window, exactly the budget with a single one, and a caller who keeps well below its limit
 * never waits for a store. Processes count each other every five seconds; one that finds itself the only one waits for
 * nobody, so the bound holds from five seconds after another one starts. Windows roll by the store's clock: those of the
 * machines need not agree.
 *
 * rate-limiter-flexible asks its store for every request, one statement a key, and its windows are fixed ones. Reserving
 * blocks of a window in advance would make the first request of every window wait, and leave what one process has reserved
 * lying where another one needs it.
 *
 * While the store is away, each process counts by itself, with the budget divided by the number of processes known last.
 */
export interface SharedLimits {
  /** One more limit; names differ. */
  add(limit: LimitOptions): SharedLimit;
  /**
   * Spends of every budget, or of none where one of them doesn't allow it.
   * @returns 0 when it is spent, else the milliseconds to wait; a promise where the other processes must hear something first
   */
  spend(spendings: readonly Spending[]): number | Promise<number>;
  /** Tells what is left to tell. The database is its owner's to close. */
  close(): Promise<void>;
}

export interface LimitOptions {
  /** What its buckets begin with. Holds no secret: it stands in the store. */
  readonly name: string;
  /** What each key may spend within the window. */
  readonly budget: number;
  readonly windowMs: number;
}

export interface SharedLimit {
  /** What one key may spend. Not to be kept: ask for it with each spending. */
  budgetOf(keyId: string): SharedBudget;
}

export interface Spending {
  readonly budget: SharedBudget;
  readonly amount: number;
}

export interface SharedLimitsOptions {
  /** Where processes tell each other; null: this one is alone. */
  readonly store: SpendingStore | null;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock?: Pick<Clock, 'now'>;
  /** Milliseconds that the store may take. @default 1000 */
  readonly timeoutMs?: number;
}

/** Keys of a limit whose spending is remembered: those of the last seconds are all that matters. */
const KEYS_MAX = 10_000;

export function createSharedLimits(options: SharedLimitsOptions): SharedLimits {
  const { store, logger, clock = systemClock, timeoutMs } = options;
  const exchange = createSpendingExchange({ store, clock, logger, ...(timeoutMs !== undefined && { timeoutMs }) });
  countProcesses(options.metrics, () => exchange.processes);
  return limitsOver(exchange);
}

/** Limits of a process that shares none. */
export function createLocalLimits(clock: Pick<Clock, 'now'> = systemClock): SharedLimits {
  return limitsOver(createSpendingExchange({ store: null, clock, logger: silentLogger() }));
}

function limitsOver(exchange: ReturnType<typeof createSpendingExchange>): SharedLimits {
  function spend(spendings: readonly Spending[]): number | Promise<number> {
    const now = exchange.now();
    const { company } = exchange;
    let wait = 0;
    let unheard: SharedBudget | null = null;
    for (const { budget, amount } of spendings) {
      const own = budget.waitFor(amount, now, company);
      if (own === null) unheard = budget;
      else if (own > wait) wait = own;
    }
    if (wait > 0) return wait;
    if (unheard !== null) return exchange.told(unheard).then(() => spend(spendings));
    for (const { budget, amount } of spendings) {
      budget.spend(amount, now);
      exchange.spent(budget);
    }
    return 0;
  }

  return {
    spend,
    add({ name, budget, windowMs }) {
      exchange.begin();
      const byKey = new LRUCache<string, SharedBudget>({ max: KEYS_MAX });
      return {
        budgetOf(keyId) {
          const known = byKey.get(keyId);
          if (known !== undefined) return known;
          const made = createSharedBudget({ bucket: `${name}:${keyId}`, budget, windowMs });
          byKey.set(keyId, made);
          return made;
        },
      };
    },
    close: () => exchange.close(),
  };
}

/** Registers the metric `chainstead_limit_processes`. */
export function countProcesses(registry: Registry, read: () => number): void {
  new Gauge({
    name: 'chainstead_limit_processes',
    help: 'Processes that count the limits of keys together, this one included; 0 while it counts alone, since there is no store or it is away',
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
