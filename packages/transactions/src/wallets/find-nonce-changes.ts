/**
 * Finds the blocks in which an account's nonce changed, by bisection. Pure: selects blocks to read, and derives
 * conclusions from their nonces. A nonce never decreases, and each sent transaction raises it by one, so between two
 * blocks of the same nonce nothing was sent and nothing is missed.
 */
import { type BlockRange, defineError } from '@chainstead/core';
import { isSingle, middleOf, type Span } from './halving.ts';

/** Blocks within which a count changed. */
export interface NonceSpan extends Span {
  /** The count after the block `after`. */
  readonly countBefore: number;
  /** The count after the block `until`: higher. */
  readonly count: number;
}

/**
 * Returns the span of a range with known counts at both ends; none if nothing changed.
 * @throws UnlikelyCountError for one that decreases
 */
export function spanOf({ from, to }: BlockRange, countBefore: number, count: number): readonly NonceSpan[] {
  if (count < countBefore) throw new UnlikelyCountError(to, count, { least: countBefore, most: null });
  return count === countBefore ? [] : [{ after: from - 1, until: to, countBefore, count }];
}

/**
 * Returns the remaining spans, given the counts at some blocks. Ascending, as before.
 * @param counts by block
 * @throws UnlikelyCountError for a count that is not between those around it
 */
export function narrow(spans: readonly NonceSpan[], counts: ReadonlyMap<number, number>): readonly NonceSpan[] {
  return spans.flatMap((span) => {
    const middle = middleOf(span);
    const count = isSingle(span) ? undefined : counts.get(middle);
    if (count === undefined) return [span];
    const { countBefore: least, count: most } = span;
    if (count < least || count > most) throw new UnlikelyCountError(middle, count, { least, most });
    return [
      ...(count > least ? [{ ...span, until: middle, count }] : []),
      ...(count < most ? [{ ...span, after: middle, countBefore: count }] : []),
    ];
  });
}

/**
 * Returns the approximate number of counts to read: in the worst case, changes split the span evenly, share the first
 * bisections, and need the rest separately.
 */
export function estimateCounts(spans: readonly NonceSpan[]): number {
  return spans.reduce((sum, { after, until, countBefore, count }) => {
    const blocks = until - after;
    const changes = Math.min(count - countBefore, blocks);
    return sum + changes * (1 + Math.ceil(Math.log2(blocks / changes)));
  }, 0);
}

/** A node returned a transaction count that contradicts its earlier ones: it is on another branch, or broken. */
export class UnlikelyCountError extends defineError(
  'UNLIKELY_TRANSACTION_COUNT',
  (block: number, count: number, { least, most }: { readonly least: number; readonly most: number | null }) => ({
    message: `A node returned a count of ${count} transactions at block ${block}, but at least ${least}${most === null ? '' : ` and at most ${most}`} were sent`,
    facts: { block, count, least, most },
    remedy: 'Check that all upstreams follow the same branch of the chain',
    retryable: true,
  }),
) {}
