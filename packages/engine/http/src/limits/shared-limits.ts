import {
  type Clock,
  defineMetrics,
  gauge,
  type Logger,
  type Registry,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import { LRUCache } from 'lru-cache';
import { createSharedBudget, type SharedBudget } from './shared-budget.ts';
import { createSpendingExchange, type SpendingStore } from './spending-exchange.ts';

/**
 * Limits shared by all processes with the same store, without a store call per request.
 *
 * A process reports its spending after 100 ms. A twentieth of the budget (at least one unit) may be
 * unreported; further requests wait for an exchange. So n processes pass at most the budget and n
 * twentieths. Without the store, each counts alone, with its share of the budget.
 *
 * rate-limiter-flexible calls its store for every request, and has fixed windows.
 */
export interface SharedLimits {
  add(limit: LimitOptions): SharedLimit;
  /** From all or none. @returns ms to wait, 0 if spent; a promise if it takes an exchange */
  spend(spendings: readonly Spending[]): number | Promise<number>;
  /** Even if nothing is left. A negative amount returns unused units. */
  charge(spendings: readonly Spending[]): void;
  close(): Promise<void>;
}

export interface LimitOptions {
  readonly name: string;
  readonly budget: number;
  readonly windowMs: number;
}

export interface SharedLimit {
  budgetOf(keyId: string): SharedBudget;
}

export interface Spending {
  readonly budget: SharedBudget;
  readonly amount: number;
}

export interface SharedLimitsOptions {
  /** Null: single process. */
  readonly store: SpendingStore | null;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock?: Pick<Clock, 'now'>;
  readonly timeoutMs?: number;
  /** False: for background work, which doesn't share budgets while the store is away. @default true */
  readonly isCounted?: boolean;
}

const KEYS_MAX = 10_000;

export const createLimitMetrics = defineMetrics('chainstead', {
  limitProcesses: gauge(
    'Number of processes that share API key limits, including this one. 0 if this process counts alone because the shared store is missing or unavailable',
  ),
});

export function createSharedLimits(options: SharedLimitsOptions): SharedLimits {
  const { store, logger, clock = systemClock, timeoutMs, isCounted = true } = options;
  const exchange = createSpendingExchange({
    store,
    clock,
    logger,
    isCounted,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  if (isCounted) createLimitMetrics(options.metrics).limitProcesses.addSource({}, () => exchange.processes);
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
    charge(spendings);
    return 0;
  }

  function charge(spendings: readonly Spending[]): void {
    for (const { budget, amount } of spendings) {
      budget.spend(amount, exchange.now());
      exchange.spent(budget);
    }
  }

  return {
    spend,
    charge,
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
