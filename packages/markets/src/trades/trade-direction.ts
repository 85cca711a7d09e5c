/**
 * Whether a swap is a trade, and its direction. Lists, candles, figures and profits use this and nothing else. A swap is a trade if its net amounts
 * have opposite signs. A flash swap that was repaid in both tokens, a refund, and a swap that returned nothing are none: nothing was bought.
 */

import { rawSql, type Sql } from '@chainstead/db';

/** The token that came into the pool: 0 or 1. Null: the swap is no trade. @param amount0 base units, positive into the pool */
export function soldToken(amount0: bigint, amount1: bigint): 0 | 1 | null {
  if (amount0 > 0n && amount1 < 0n) return 0;
  return amount0 < 0n && amount1 > 0n ? 1 : null;
}

/** Returns the condition that {@link soldToken} is not null: also false while an amount is unknown. @param swap relation with a dot, or empty */
export function isTrade(swap = ''): Sql {
  return rawSql(`(${swap}kind = 0 AND coalesce(sign(${swap}amount0) * sign(${swap}amount1) < 0, false))`);
}

/** Returns the condition that {@link soldToken} of a trade is 0. */
export function isSold0(swap = ''): Sql {
  return rawSql(`(${swap}amount0 > 0)`);
}
