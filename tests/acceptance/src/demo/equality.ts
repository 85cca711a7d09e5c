import { type Clock, defineError, errorText } from '@chainstead/core';

/** The API and the node still return different data after the timeout. */
export class DemoMismatchError extends defineError('DEMO_MISMATCH', (stage: string, difference: string) => ({
  message: `${stage}: the API and the node return different data: ${difference}`,
  facts: { stage },
})) {}

/** Facts of one kind as texts. A repeated fact is listed as often as it occurs. */
export interface Comparison {
  /** What the facts are, such as `sale prices`. */
  readonly subject: string;
  /** Facts from the node. */
  readonly expected: readonly string[];
  /** What the API serves now. */
  served(): Promise<readonly string[]>;
}

export interface EqualityOptions {
  readonly stage: string;
  readonly comparisons: readonly Comparison[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 90_000;
const POLL_MS = 250;

/** Waits until everything is served exactly as the node has it. @throws DemoMismatchError */
export async function awaitEquality(options: EqualityOptions): Promise<void> {
  const { stage, comparisons, clock, signal } = options;
  const deadline = clock.now() + DEADLINE_MS;
  for (const comparison of comparisons)
    for (;;) {
      signal.throwIfAborted();
      const difference = await findDifference(comparison);
      if (difference === null) break;
      if (clock.now() > deadline) throw new DemoMismatchError(stage, `${comparison.subject}: ${difference}`);
      await clock.sleep(POLL_MS, signal);
    }
}

async function findDifference({ expected, served }: Comparison): Promise<string | null> {
  try {
    return compareFacts(expected, await served());
  } catch (error) {
    return errorText(error);
  }
}

/** The first difference between two lists in any order, in words; null when they are equal. */
export function compareFacts(expected: readonly string[], served: readonly string[]): string | null {
  const counts = `${served.length} served, ${expected.length} expected`;
  const missing = expected.find((fact) => !served.includes(fact));
  if (missing !== undefined) return `missing ${missing} (${counts})`;
  const surplus = served.find((fact) => !expected.includes(fact));
  if (surplus !== undefined) return `surplus ${surplus} (${counts})`;
  return served.length === expected.length ? null : counts;
}
