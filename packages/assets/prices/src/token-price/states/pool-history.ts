import type { PoolOfToken } from '../pools/pools-of-token.ts';
import type { ReportedState } from './liquidity-in-range.ts';
import type { DepthSource } from './pool-balances.ts';
import type { Sides, StateSince } from './side-depths.ts';

export interface PoolHistory extends PoolOfToken {
  /** Oldest first, never empty. */
  readonly states: readonly StateSince[];
  readonly changedAt: Pick<StateSince, 'block' | 'since'>;
  /** Unix seconds of the pool's creation, or of its first event on chain; null: unknown. */
  readonly createdAt: number | null;
  /** Block at whose end contract calls read the first state; null: an event reported it. */
  readonly readAt: number | null;
  readonly depth: DepthSource;
  /** Base units of each token in all bins of a pair whose depth is unknown, at the end of the place; null: unknown. */
  readonly balanceMax?: Sides<bigint | null>;
}

export type StoredPoolHistory = Omit<PoolHistory, 'states' | 'depth'> & { readonly states: readonly ReportedState[] };

export const SWAPS_DATASET = 'swaps';
