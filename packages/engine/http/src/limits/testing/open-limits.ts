import { createLogger, createMetricsRegistry } from '@chainstead/core';
import { createSharedLimits, type SharedLimit, type SharedLimits } from '../shared-limits.ts';
import type { SpendingStore } from '../spending-exchange.ts';

/** A window longer than every test. Milliseconds. */
export const LONG_MS = 600_000;

export interface LoggedLine {
  readonly level: string;
  readonly msg: string;
}

export interface OpenLimits {
  readonly limits: SharedLimits;
  readonly lines: LoggedLine[];
  /** The value of `chainstead_limit_processes`. */
  processes(): Promise<number>;
}

const opened: SharedLimits[] = [];

/** Closes the limits opened by a test. */
export async function closeLimits(): Promise<void> {
  await Promise.all(opened.splice(0).map((limits) => limits.close()));
}

/** Opens the limits of one process. @param timeoutMs store timeout: long enough for a stalling machine */
export function openLimits(store: SpendingStore, timeoutMs = 30_000): OpenLimits {
  const lines: LoggedLine[] = [];
  const logger = createLogger({
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const metrics = createMetricsRegistry();
  const limits = createSharedLimits({ store, logger, metrics, timeoutMs });
  opened.push(limits);
  return {
    limits,
    lines,
    async processes() {
      return Number(/^chainstead_limit_processes(?:\{.*\})? (\d+)$/m.exec(await metrics.metrics())?.[1]);
    },
  };
}

/** Spends one unit this many times concurrently. @returns how many passed */
export async function spendMany(limits: SharedLimits, limit: SharedLimit, times: number): Promise<number> {
  const waits = await Promise.all(
    Array.from({ length: times }, async () => limits.spend([{ budget: limit.budgetOf('key'), amount: 1 }])),
  );
  return waits.filter((wait) => wait === 0).length;
}

let bucketCount = 0;
/** Returns a unique limit name. */
export const newName = (): string => `test${++bucketCount}`;
