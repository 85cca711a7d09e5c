import type { Clock } from '@chainstead/core';
import { createLocalLimits, type SharedLimits } from '../limits/shared-limits.ts';

/** Single-process limits that record their buckets: processes with one store would count these together. */
interface NotedLimits extends SharedLimits {
  /** Names of the limit and of its key, as in the store. */
  readonly buckets: ReadonlySet<string>;
}

export function notedLimits(clock?: Pick<Clock, 'now'>): NotedLimits {
  const limits = createLocalLimits(clock);
  const buckets = new Set<string>();
  return {
    ...limits,
    buckets,
    add(options) {
      const { budgetOf } = limits.add(options);
      return {
        budgetOf(keyId) {
          buckets.add(`${options.name}:${keyId}`);
          return budgetOf(keyId);
        },
      };
    },
  };
}
