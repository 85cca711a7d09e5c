import type { ApiContext } from '../api-context.ts';
import { RateLimitedError } from '../api-error.ts';

export interface OnDemandBounds {
  /** Node calls that requests may cause; 0: none (`ON_DEMAND_MAX_CALLS`). */
  readonly maxCalls: number;
  /** What one key may wait for at once (`ON_DEMAND_PER_KEY`). */
  readonly perKey: number;
}

/** What requests may have nodes asked, all routes of a process together. */
export interface OnDemandBudget {
  /** Whether requests may cause calls at all. */
  readonly mayCall: boolean;
  /** Does what a key waits for. @throws RateLimitedError (429) where it waits for too much already */
  run<T>(requester: string, work: () => Promise<T>): Promise<T>;
}

/** One for all routes of a process. */
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

/** Whose request it is, for budgets. */
export function requesterOf(c: ApiContext): string {
  return c.get('principal')?.id ?? OPEN_REQUESTER;
}
