/** What comes of a comparison. */
import type { Clock } from '@chainstead/core';
import { UnansweredError } from './api.ts';

export interface Difference {
  readonly text: string;
  /** Whether the cause may be a missing reading. A wrong value never is. */
  readonly mayPass: boolean;
}

/** Gathers differences. */
export interface Differences {
  readonly found: readonly Difference[];
  /** Something that must never be. */
  wrong(text: string): void;
  /** Something that must not stay. */
  missing(text: string): void;
}

export function gatherDifferences(): Differences {
  const found: Difference[] = [];
  return {
    found,
    wrong: (text) => found.push({ text, mayPass: false }),
    missing: (text) => found.push({ text, mayPass: true }),
  };
}

/** What the program can't answer at the moment is asked again. */
export async function unlessUnanswered(differences: Differences, compare: () => Promise<void>): Promise<void> {
  try {
    await compare();
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error;
    differences.missing(error.message);
  }
}

const PATIENCE_MS = 45_000;
const POLL_MS = 100;

/** Compares until there is no difference, or a certain one. @returns it in words; null without one */
export async function compareUntilEqual(
  clock: Clock,
  compare: () => Promise<readonly Difference[]>,
): Promise<string | null> {
  const deadline = clock.now() + PATIENCE_MS;
  for (;;) {
    const found = await compare();
    const certain = found.filter(({ mayPass }) => !mayPass);
    if (found.length === 0) return null;
    if (certain.length > 0 || clock.now() > deadline) return wordsOf(certain.length > 0 ? certain : found);
    await clock.sleep(POLL_MS);
  }
}

const SHOWN = 5;

function wordsOf(differences: readonly Difference[]): string {
  const texts = differences.slice(0, SHOWN).map(({ text }) => text);
  const others = differences.length - texts.length;
  return [...texts, ...(others > 0 ? [`and ${others} others`] : [])].join('\n');
}
