import type { SharedLimit, SharedLimits } from '@chainstead/http/server';
import type { MethodFacts } from '../methods/method-table.ts';

export interface RateLimitOptions {
  /** Weight per second and key; null: unlimited. */
  readonly weightPerSecond: number | null;
  /** Calls per second and key, whatever their weight; null: unlimited. @default null */
  readonly allCallsPerSecond?: number | null;
  readonly callsPerSecond: ReadonlyMap<string, number>;
  /** Rolling, milliseconds. @default 4000, as the hosted API */
  readonly windowMs?: number;
}

export interface RateLimits {
  /** @returns 0 if counted, else milliseconds to wait; a promise asks other processes */
  take(keyId: string, method: Pick<MethodFacts, 'countedAs' | 'weight'>): number | Promise<number>;
}

const LIMIT_NAME = 'rpc';

export function createRateLimits(
  { weightPerSecond, allCallsPerSecond = null, callsPerSecond, windowMs = 4_000 }: RateLimitOptions,
  sharedLimits: SharedLimits,
): RateLimits {
  if (weightPerSecond === null && allCallsPerSecond === null && callsPerSecond.size === 0)
    return { take: () => 0 };
  const limitOf = (name: string, perSecond: number): SharedLimit =>
    sharedLimits.add({ name, budget: perSecond * (windowMs / 1_000), windowMs });
  const weights = weightPerSecond === null ? null : limitOf(LIMIT_NAME, weightPerSecond);
  const all = allCallsPerSecond === null ? null : limitOf(`${LIMIT_NAME} calls`, allCallsPerSecond);
  const byMethod = new Map(
    [...callsPerSecond].map(([name, calls]) => [name, limitOf(`${LIMIT_NAME}:${name}`, calls)]),
  );
  return {
    take(keyId, { countedAs, weight }) {
      const spendings = weights === null ? [] : [{ budget: weights.budgetOf(keyId), amount: weight }];
      if (all !== null) spendings.push({ budget: all.budgetOf(keyId), amount: 1 });
      const calls = byMethod.get(countedAs);
      if (calls !== undefined) spendings.push({ budget: calls.budgetOf(keyId), amount: 1 });
      return sharedLimits.spend(spendings);
    },
  };
}
