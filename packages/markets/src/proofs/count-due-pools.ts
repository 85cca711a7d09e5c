import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { DUE_POOLS } from './pool-rows.ts';

/** Returns the number of pools of a chain that wait for a proof, counted up to `max`. */
export async function countDuePools(database: Pick<Database, 'query'>, chainId: ChainId, max: number): Promise<number> {
  const [row] = await database.query<{ due: number }>(
    `SELECT count(*)::integer AS due FROM (
       SELECT FROM ${DUE_POOLS.name} WHERE chain_id = $1 AND ${DUE_POOLS.isOpen} LIMIT $2) AS pool`,
    [chainId, max],
  );
  return row?.due ?? 0;
}
