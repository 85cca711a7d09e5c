import { textParameter } from '@chainstead/http';

export const OF_PROFITS =
  'Returns 400 with `SWAPS_<CHAIN>=off`. `indexed.complete` is false if swaps of the chain are missing, or a trade has no known value.';

/** Days; null: all trades. Default: all. */
export function daysParameter(allowed: readonly ['all', ...string[]]) {
  const phrase = `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
  const daysOf = (text: string) => (text === 'all' ? null : allowed.includes(text) ? Number(text) : undefined);
  return textParameter(phrase, daysOf)
    .optional()
    .openapi({
      ...{ type: 'string', enum: [...allowed], default: 'all' },
      description: 'Counts only trades of this number of days before the newest indexed block.',
    });
}
