/** What is compared with, and what comes of it. */
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type StoryApi, UnansweredError } from './api.ts';
import type { Truth } from './truth.ts';
import type { AssetsWorld } from './world.ts';

export interface Comparison {
  readonly world: AssetsWorld;
  readonly api: StoryApi;
  readonly database: Database;
  readonly truth: Truth;
  /** Whether the chain is indexed from its first block: then answers have to become complete. */
  readonly isWhole: boolean;
  /** Tokens whose balances may be shown as they were: they change by themselves, and nothing has shown that to the program yet. */
  readonly unnoticed: ReadonlySet<Address>;
  /** Rows of a page. */
  readonly limit: number;
}

export interface Difference {
  readonly text: string;
  /** Whether it may be because something has not been read yet. What is shown wrongly never is. */
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
