import { LRUCache } from 'lru-cache';
import type { MethodFacts } from '../method-table.ts';
import { createRollingRate, type RollingRate } from './rolling-rate.ts';

export interface RateLimitOptions {
  /** Units of weight a second and key; null: unlimited. */
  readonly weightPerSecond: number | null;
  /** Calls a second and key of these methods. */
  readonly callsPerSecond: ReadonlyMap<string, number>;
}

/** What the calls of each key may take, per process. */
export interface RateLimits {
  /** Counts a call. @returns 0 when it may be made, else the milliseconds to wait (and it is not counted). */
  take(keyId: string, method: Pick<MethodFacts, 'name' | 'weight'>, now: number): number;
}

/** Keys whose spending is remembered: those of the last seconds are all that matters. */
const KEYS_MAX = 10_000;

export function createRateLimits({ weightPerSecond, callsPerSecond }: RateLimitOptions): RateLimits {
  if (weightPerSecond === null && callsPerSecond.size === 0) return { take: () => 0 };
  const byKey = new LRUCache<string, KeyRates>({ max: KEYS_MAX });

  function ratesOf(keyId: string): KeyRates {
    const known = byKey.get(keyId);
    if (known !== undefined) return known;
    const rates = {
      weight: weightPerSecond === null ? null : createRollingRate(weightPerSecond),
      methods: new Map([...callsPerSecond].map(([name, calls]) => [name, createRollingRate(calls)])),
    };
    byKey.set(keyId, rates);
    return rates;
  }

  return {
    take(keyId, method, now) {
      const { weight, methods } = ratesOf(keyId);
      const ofMethod = methods.get(method.name);
      const wait = Math.max(weight?.waitFor(method.weight, now) ?? 0, ofMethod?.waitFor(1, now) ?? 0);
      if (wait > 0) return wait;
      weight?.spend(method.weight, now);
      ofMethod?.spend(1, now);
      return 0;
    },
  };
}

interface KeyRates {
  readonly weight: RollingRate | null;
  readonly methods: ReadonlyMap<string, RollingRate>;
}
