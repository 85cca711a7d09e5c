import { z } from '@hono/zod-openapi';

/** Sentences that each operation's description shares. */
export const OF_PROFITS =
  'Needs `SWAPS_<CHAIN>=all`. `indexed.complete` is false if swaps of the chain are missing, or a trade has no known value.';

/** The length of a window. Default: all. */
export function daysParameter<const Days extends readonly ['all', ...string[]]>(allowed: Days) {
  return z.enum(allowed).optional().openapi({
    default: 'all',
    description: 'Counts only trades of this number of days before the newest indexed block.',
  });
}

/** Number of days; null: all trades. */
export function daysOf(given: string | undefined): number | null {
  return given === undefined || given === 'all' ? null : Number(given);
}
