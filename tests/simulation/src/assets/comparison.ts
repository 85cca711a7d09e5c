/** Expected values of responses. */
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { StoryApi } from '../story/api.ts';
import type { Truth } from './truth.ts';
import type { AssetsWorld } from './world.ts';

export interface Comparison {
  readonly world: AssetsWorld;
  readonly api: StoryApi;
  readonly database: Database;
  readonly truth: Truth;
  /** Whether the chain is indexed from its first block: then answers have to become complete. */
  readonly isWhole: boolean;
  /** Tokens whose balances may be outdated: they change without events, and the program has not noticed it yet. */
  readonly unnoticed: ReadonlySet<Address>;
  /** Rows of a page. */
  readonly limit: number;
}
