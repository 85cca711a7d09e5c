import type { PoolOfToken } from '../pools/pools-of-token.ts';
import type { ReportedState } from './liquidity-in-range.ts';
import type { DepthSource } from './pool-balances.ts';
import type { Sides, StateSince } from './side-depths.ts';

export interface PoolHistory extends PoolOfToken {
  /** Oldest first, never empty. */
  readonly states: readonly StateSince[];
  readonly changedAt: Pick<StateSince, 'block' | 'since'>;
  /** Unix seconds of creation or first event; null: unknown. */
  readonly createdAt: number | null;
  /** Block of the contract calls for the first state; null: from an event. */
  readonly readAt: number | null;
  readonly depth: DepthSource;
  /** Base units in all bins of a pair whose depth is unknown; null: unknown. */
  readonly balanceMax?: Sides<bigint | null>;
}

export type StoredPoolHistory = Omit<PoolHistory, 'states' | 'depth'> & {
  readonly states: readonly ReportedState[];
};

export const SWAPS_DATASET = 'swaps';
