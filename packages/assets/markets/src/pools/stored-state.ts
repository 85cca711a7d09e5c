import { sql } from '@chainstead/db';
import type { PoolState } from '../events/pool-event.ts';

export interface StateColumns {
  readonly reserve0: string | null;
  readonly reserve1: string | null;
  readonly sqrtPriceX96: string | null;
  readonly liquidity: string | null;
  readonly tick: number | null;
}

export const STATE_COLUMNS = sql`reserve0::text, reserve1::text, sqrt_price_x96::text, liquidity::text, tick`;

export function poolStateOf(row: StateColumns): PoolState | null {
  const { reserve0, reserve1, sqrtPriceX96: root, liquidity, tick } = row;
  if (reserve0 !== null && reserve1 !== null)
    return { of: 'reserves', reserve0: BigInt(reserve0), reserve1: BigInt(reserve1) };
  if (tick === null) return null;
  return root === null
    ? { of: 'bin', activeId: tick }
    : { of: 'price', sqrtPriceX96: BigInt(root), liquidity: BigInt(liquidity ?? 0), tick };
}
