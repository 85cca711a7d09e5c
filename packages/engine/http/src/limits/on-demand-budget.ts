import { AsyncLocalStorage } from 'node:async_hooks';
import type { ApiContext } from '../api-context.ts';
import { RateLimitedError } from '../errors/api-error.ts';
import type { SharedLimit, SharedLimits } from './shared-limits.ts';

export interface OnDemandBounds {
  readonly maxCalls: number;
  /** Concurrent waits (`ON_DEMAND_CONCURRENCY_PER_KEY`). */
  readonly perKey: number;
}

export interface OnDemandBudget {
  readonly mayCall: boolean;
  /** @throws RateLimitedError (429) if the key already waits for too much */
  run<T>(requester: string, work: () => Promise<T>): Promise<T>;
}

export function createOnDemandBudget(bounds: OnDemandBounds): OnDemandBudget {
  const waiting = new Map<string, number>();
  return {
    get mayCall() {
      return bounds.maxCalls > 0;
    },
    async run(requester, work) {
      const before = waiting.get(requester) ?? 0;
      if (before >= bounds.perKey) throw new RateLimitedError(1);
      waiting.set(requester, before + 1);
      try {
        return await work();
      } finally {
        const now = (waiting.get(requester) ?? 1) - 1;
        if (now > 0) waiting.set(requester, now);
        else waiting.delete(requester);
      }
    },
  };
}

const OPEN_REQUESTER = 'open';

export function requesterOf(c: ApiContext): string {
  return c.get('principal')?.id ?? OPEN_REQUESTER;
}

const WINDOW_SECONDS = 10;

type Spend = (calls: number) => Promise<number>;

const requests = new AsyncLocalStorage<Spend>();

/** For the running request's key. @returns ms to wait; 0 also outside of a request */
export async function spendNodeCalls(calls: number): Promise<number> {
  return (await requests.getStore()?.(calls)) ?? 0;
}

type RunCounted = <T>(keyId: string, work: () => Promise<T>) => Promise<T>;

function addCallLimit(sharedLimits: SharedLimits, perSecond: number): SharedLimit {
  return sharedLimits.add({
    name: 'node calls',
    budget: perSecond * WINDOW_SECONDS,
    windowMs: WINDOW_SECONDS * 1_000,
  });
}

/** The rest of the rate is for requests: these are refused, and backfills wait. */
const BACKFILL_SHARE = 3 / 4;
const TURNS_PER_WINDOW = 4;
/** A day's calls are those of so many hours at the rate. */
const HOURS_A_DAY = 6;
const DAY_MS = 86_400_000;

/** Calls of a worker's backfills, in the same budget as those of requests. @param perSecond on average of ten seconds */
export function createBackfillBudget(sharedLimits: SharedLimits, perSecond: number) {
  const limits = [
    addCallLimit(sharedLimits, perSecond),
    sharedLimits.add({
      name: 'backfill calls',
      budget: perSecond * WINDOW_SECONDS * BACKFILL_SHARE,
      windowMs: WINDOW_SECONDS * 1_000,
    }),
    sharedLimits.add({ name: 'backfill calls a day', budget: perSecond * 3_600 * HOURS_A_DAY, windowMs: DAY_MS }),
  ];
  const spendings = (key: string, amount: number) =>
    limits.map((limit) => ({ budget: limit.budgetOf(key), amount }));
  return {
    callsPerTurn: Math.max(1, Math.floor((perSecond * WINDOW_SECONDS * BACKFILL_SHARE) / TURNS_PER_WINDOW)),
    async take(key: string, calls: number): Promise<number> {
      return sharedLimits.spend(spendings(key, calls));
    },
    settle(key: string, calls: number): void {
      sharedLimits.charge(spendings(key, calls));
    },
  };
}

/** Calls for webhooks, which neither requests nor backfills of the key hold up. @param perSecond on average of ten seconds */
export function createWebhookCallLimit(sharedLimits: SharedLimits, perSecond: number) {
  const budget = perSecond * WINDOW_SECONDS;
  const limit = sharedLimits.add({ name: 'webhook calls', budget, windowMs: WINDOW_SECONDS * 1_000 });
  return async (key: string, calls: number): Promise<number> =>
    sharedLimits.spend([{ budget: limit.budgetOf(key), amount: Math.min(calls, budget) }]);
}

/** @param perSecond on average of ten seconds; null: unlimited */
export function createNodeCallLimit(sharedLimits: SharedLimits, perSecond: number | null): RunCounted {
  if (perSecond === null) return (_, work) => work();
  const limit = addCallLimit(sharedLimits, perSecond);
  return (keyId, work) =>
    requests.run(async (calls) => sharedLimits.spend([{ budget: limit.budgetOf(keyId), amount: calls }]), work);
}
