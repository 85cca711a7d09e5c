import type { BlockRange, Log } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { BlockSource, SourceBlock } from '../block-source.ts';
import { SourceError } from '../source-error.ts';

const NEVER = new AbortController().signal;

/** Waits of a reader, without waiting. */
export function recordedSleeps(): {
  readonly sleeps: number[];
  readonly clock: { sleep(ms: number): Promise<void> };
} {
  const sleeps: number[] = [];
  return {
    sleeps,
    clock: {
      async sleep(ms) {
        sleeps.push(ms);
      },
    },
  };
}

export async function readBlocks(source: BlockSource, range: BlockRange, signal = NEVER): Promise<SourceBlock[]> {
  return Array.fromAsync(source.readBlocks(range, { transactions: true }, signal));
}

/** Checks that pages lie end to end. */
export async function readLogs(source: BlockSource, query: LogsQuery): Promise<{ logs: Log[]; to: number }> {
  const logs: Log[] = [];
  let next = query.range.from;
  for await (const page of source.readLogs(query, NEVER)) {
    if (page.range.from !== next) throw new Error(`A page begins at ${page.range.from}, not ${next}`);
    logs.push(...page.logs);
    next = page.range.to + 1;
  }
  return { logs, to: next - 1 };
}

/** Fault and text of a failure. */
export async function faultOf(work: Promise<unknown>): Promise<Readonly<Record<string, unknown>>> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SourceError) return error.facts;
    throw error;
  }
  throw new Error('It did not fail');
}
