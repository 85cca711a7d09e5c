import type { SharedLimit, SharedLimits } from '@chainstead/http';
import type { MethodFacts } from '../method-table.ts';

export interface RateLimitOptions {
  /** Units of weight a second and key; null: unlimited. */
  readonly weightPerSecond: number | null;
  /** Calls a second and key, whatever they weigh; null: unlimited. @default null */
  readonly allCallsPerSecond?: number | null;
  /** Calls a second and key of these methods. */
  readonly callsPerSecond: ReadonlyMap<string, number>;
  /** Milliseconds over which rates are rolling. @default 4000, as the hosted provider's */
  readonly windowMs?: number;
}

/** What the calls of each key may take, over all processes. */
export interface RateLimits {
  /**
   * Counts a call.
   * @returns 0 when it may be made, else the milliseconds to wait (and it is not counted); a promise of it where other processes must hear first
   */
  take(keyId: string, method: Pick<MethodFacts, 'name' | 'weight'>): number | Promise<number>;
}

/** Of the limits' buckets. */
const LIMIT_NAME = 'rpc';

export function createRateLimits(
  { weightPerSecond, allCallsPerSecond = null, callsPerSecond, windowMs = 4_000 }: RateLimitOptions,
  sharedLimits: SharedLimits,
): RateLimits {
  if (weightPerSecond === null && allCallsPerSecond === null && callsPerSecond.size === 0) return { take: () => 0 };
  const limitOf = (name: string, perSecond: number): SharedLimit =>
    sharedLimits.add({ name, budget: perSecond * (windowMs / 1_000), windowMs });
  const weights = weightPerSecond === null ? null : limitOf(LIMIT_NAME, weightPerSecond);
  const all = allCallsPerSecond === null ? null : limitOf(`${LIMIT_NAME} calls`, allCallsPerSecond);
  const byMethod = new Map([...callsPerSecond].map(([name, calls]) => [name, limitOf(`${LIMIT_NAME}:${name}`, calls)]));
  return {
    take(keyId, { name, weight }) {
      const spendings = weights === null ? [] : [{ budget: weights.budgetOf(keyId), amount: weight }];
      if (all !== null) spendings.push({ budget: all.budgetOf(keyId), amount: 1 });
      const calls = byMethod.get(name);
      if (calls !== undefined) spendings.push({ budget: calls.budgetOf(keyId), amount: 1 });
      return sharedLimits.spend(spendings);
    },
  };
}
