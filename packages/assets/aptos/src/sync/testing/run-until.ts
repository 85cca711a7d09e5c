/** Time and conditions in tests of a network's ingestion. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '@chainstead/core';
import { createAptosSync } from '../aptos-sync.ts';
import type { AptosSyncOptions } from '../options.ts';

const PATIENCE_MS = 120_000;

/** Runs until the condition holds, then stops. */
export async function runUntil(options: AptosSyncOptions, condition: () => Promise<boolean>): Promise<void> {
  const stop = new AbortController();
  const run = createAptosSync(options).run(stop.signal);
  try {
    await until(condition);
  } finally {
    stop.abort();
    await run;
  }
}

/** @throws if the condition does not hold within two minutes */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('What was waited for did not come');
    await sleep(20);
  }
}

/** Returns a clock that runs a hundred times as fast as real time. */
export function fastClock(): Clock {
  const start = Date.now();
  return {
    now: () => start + (Date.now() - start) * 100,
    sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
  };
}
