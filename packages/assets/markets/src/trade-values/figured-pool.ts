import type { Address } from '@chainstead/core';
import type { PoolId } from '../events/pool-event.ts';

export interface FiguredPool {
  readonly pool: PoolId;
  readonly token0: Address;
  readonly token1: Address;
  readonly decimals: readonly [number | null, number | null];
}

/** Unix seconds; end exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}
