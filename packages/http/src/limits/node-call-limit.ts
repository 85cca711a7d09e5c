import { AsyncLocalStorage } from 'node:async_hooks';
import type { SharedLimits } from './shared-limits.ts';

/** Requests may save up for one that costs more than a second's calls. Seconds. */
const WINDOW_SECONDS = 10;

type Spend = (calls: number) => Promise<number>;

const requests = new AsyncLocalStorage<Spend>();

/** From the budget of the running request's key. @returns milliseconds to wait; 0 also outside of a request */
export async function spendNodeCalls(calls: number): Promise<number> {
  return (await requests.getStore()?.(calls)) ?? 0;
}

type RunCounted = <T>(keyId: string, work: () => Promise<T>) => Promise<T>;

/** @param perSecond node calls that the requests of a key may cause, on average of ten seconds; null: any number */
export function createNodeCallLimit(sharedLimits: SharedLimits, perSecond: number | null): RunCounted {
  if (perSecond === null) return (_, work) => work();
  const limit = sharedLimits.add({
    name: 'node calls',
    budget: perSecond * WINDOW_SECONDS,
    windowMs: WINDOW_SECONDS * 1_000,
  });
  return (keyId, work) =>
    requests.run(async (calls) => sharedLimits.spend([{ budget: limit.budgetOf(keyId), amount: calls }]), work);
}
