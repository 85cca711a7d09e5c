import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { DUE_POOLS, IS_OPEN } from './pool-rows.ts';

export async function countDuePools(
  database: Pick<Database, 'query'>,
  chainId: ChainId,
  max: number,
): Promise<number> {
  const [row] = await database.query<{ due: number }>(
    sql`SELECT count(*)::integer AS due FROM (
       SELECT FROM ${rawSql(DUE_POOLS.name)} WHERE chain_id = ${chainId} AND ${IS_OPEN} LIMIT ${max}) AS pool`,
  );
  return row?.due ?? 0;
}
