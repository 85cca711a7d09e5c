import type { PoolId } from '../events/pool-event.ts';

/**
 * Key of a pool: the first four and the last four bytes of its id as a signed 64-bit integer in decimal text. Equal to `addressKey` for a
 * pool with an address. Two pools may share a key, so compare the id too.
 */
export function poolKey(pool: PoolId): string {
  return BigInt.asIntN(64, BigInt(pool.slice(0, 10) + pool.slice(-8))).toString();
}
