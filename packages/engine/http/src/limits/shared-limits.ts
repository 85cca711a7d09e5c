import { type Clock, Gauge, type Logger, type Registry, silentLogger, systemClock } from '@chainstead/core';
import { LRUCache } from 'lru-cache';
import { createSharedBudget, type SharedBudget } from './shared-budget.ts';
import type { SpendingStore } from './spending-exchange.ts';
import { createSpendingExchange } from './spending-exchange.ts';

/**
 * Limits shared by all processes with the same store, without a store call per request.
 *
 * A process spends immediately, based on the known spending of all processes, and reports to the store 100 ms later.
 * The store responds with the total.
 *
 * A process may spend a twentieth of the budget (at least one unit) unreported;
 * further requests wait for one exchange, about a millisecond. So with n processes at most budget + n times a twentieth
 * passes in a window. With a single process, exactly the budget passes. A client well below its limit never waits for
 * the store.
 *
 * Processes count each other every five seconds. A process that finds no other never waits, so the bound holds
 * from five seconds after another one starts. Windows follow the store's clock, so machine clocks may differ.
 *
 * rate-limiter-flexible calls its store for every request, one statement per key, and has fixed windows. Reserving
 * blocks of a window in advance would delay the first request of every window, and leave reservations unused in one
 * process while another one needs them.
 *
 * While the store is unavailable, each process counts alone, with the budget divided by the last known number of
 * processes.
 */
export interface SharedLimits {
  add(limit: LimitOptions): SharedLimit;
  /** From all or from none. @returns 0 if spent, or milliseconds to wait; a promise if an exchange is needed first */
  spend(spendings: readonly Spending[]): number | Promise<number>;
  close(): Promise<void>;
}

export interface LimitOptions {
  /** Prefix of its buckets. Contains no secret, since the store contains it. */
  readonly name: string;
  readonly budget: number;
  readonly windowMs: number;
}

export interface SharedLimit {
  /** Returns the budget of one key. Don't store it: get it again for each spending. */
  budgetOf(keyId: string): SharedBudget;
}

export interface Spending {
  readonly budget: SharedBudget;
  readonly amount: number;
}

export interface SharedLimitsOptions {
  /** The store for exchanges between processes; null: single process. */
  readonly store: SpendingStore | null;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock?: Pick<Clock, 'now'>;
  readonly timeoutMs?: number;
}

const KEYS_MAX = 10_000;

export function createSharedLimits(options: SharedLimitsOptions): SharedLimits {
  const { store, logger, clock = systemClock, timeoutMs } = options;
  const exchange = createSpendingExchange({ store, clock, logger, ...(timeoutMs !== undefined && { timeoutMs }) });
  countProcesses(options.metrics, () => exchange.processes);
  return limitsOver(exchange);
}

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
    if (unheard !== null) return exchange.reported(unheard).then(() => spend(spendings));
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

export function countProcesses(registry: Registry, read: () => number): void {
  new Gauge({
    name: 'chainstead_limit_processes',
    help: 'Number of processes that share API key limits, including this one. 0 if this process counts alone because the shared store is missing or unavailable',
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
