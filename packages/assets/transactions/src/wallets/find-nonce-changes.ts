/** Pure bisection. Nonces never decrease: between equal ones nothing was sent. */
import { type BlockRange, defineError } from '@chainstead/core';
import { isSingle, middleOf, type SearchSpan } from './halving.ts';

export interface NonceSpan extends SearchSpan {
  readonly countBefore: number;
  readonly count: number;
}

/** @throws UnlikelyCountError for a count that decreases */
export function spanOf({ from, to }: BlockRange, countBefore: number, count: number): readonly NonceSpan[] {
  if (count < countBefore) throw new UnlikelyCountError(to, count, { least: countBefore, most: null });
  return count === countBefore ? [] : [{ after: from - 1, until: to, countBefore, count }];
}

/** Ascending. @throws UnlikelyCountError for a count outside of its neighbors */
export function narrow(spans: readonly NonceSpan[], counts: ReadonlyMap<number, number>): readonly NonceSpan[] {
  return spans.flatMap((span) => {
    const middle = middleOf(span);
    const count = isSingle(span) ? undefined : counts.get(middle);
    if (count === undefined) return [span];
    const { countBefore: least, count: most } = span;
    if (count < least || count > most) throw new UnlikelyCountError(middle, count, { least, most });
    const [lower, upper] = [
      { ...span, until: middle, count },
      { ...span, after: middle, countBefore: count },
    ];
    return [...(count > least ? [lower] : []), ...(count < most ? [upper] : [])];
  });
}

export function estimateCounts(spans: readonly NonceSpan[]): number {
  return spans.reduce((sum, { after, until, countBefore, count }) => {
    const blocks = until - after;
    const changes = Math.min(count - countBefore, blocks);
    return sum + changes * (1 + Math.ceil(Math.log2(blocks / changes)));
  }, 0);
}

export class UnlikelyCountError extends defineError(
  'UNLIKELY_TRANSACTION_COUNT',
  (block: number, count: number, { least, most }: { readonly least: number; readonly most: number | null }) => ({
    message: `A node returned a count of ${count} transactions at block ${block}, but at least ${least}${most === null ? '' : ` and at most ${most}`} were sent`,
    facts: { block, count, least, most },
    remedy: 'Check that all upstreams follow the same branch of the chain',
    retryable: true,
  }),
) {}
