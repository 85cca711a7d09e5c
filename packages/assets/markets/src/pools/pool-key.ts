import type { PoolId } from '../events/pool-event.ts';

/** First and last four bytes of the id as int64. Pools may share one: compare the id too. */
export function poolKey(pool: PoolId): string {
  return BigInt.asIntN(64, BigInt(pool.slice(0, 10) + pool.slice(-8))).toString();
}
