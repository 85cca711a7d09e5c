import type { ApiContext } from '../api-context.ts';
import { RateLimitedError } from '../errors/api-error.ts';

export interface OnDemandBounds {
  /** Maximum node calls that requests may cause; 0: none (`ON_DEMAND_MAX_CALLS`). */
  readonly maxCalls: number;
  /** Maximum concurrent waits of one key (`ON_DEMAND_CONCURRENCY_PER_KEY`). */
  readonly perKey: number;
}

export interface OnDemandBudget {
  readonly mayCall: boolean;
  /** Runs work that a key waits for. @throws RateLimitedError (429) if the key already waits for too much */
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
