/** A trade has net amounts of opposite signs. Refunds, and flash swaps repaid in both, do not. */

import { rawSql, type Sql } from '@chainstead/db';

/** Null: no trade. Base units, positive into the pool. */
export function soldToken(amount0: bigint, amount1: bigint): 0 | 1 | null {
  if (amount0 > 0n && amount1 < 0n) return 0;
  return amount0 < 0n && amount1 > 0n ? 1 : null;
}

/** False while an amount is unknown. `swap`: relation with a dot, or empty. */
export function isTrade(swap = ''): Sql {
  return rawSql(`(${swap}kind = 0 AND coalesce(sign(${swap}amount0) * sign(${swap}amount1) < 0, false))`);
}

export function isSold0(swap = ''): Sql {
  return rawSql(`(${swap}amount0 > 0)`);
}
