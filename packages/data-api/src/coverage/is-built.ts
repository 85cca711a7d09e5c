import { type Sql, sql } from '@chainstead/db';
import type { Projection } from '@chainstead/sync';
import type { ChainInSql } from './block-span.ts';

/** Returns whether a derived state counts all rows of the chain. During a rebuild, responses from it are not complete. */
export function isBuilt(chainId: ChainInSql, { name, version }: Projection): Sql {
  return sql`EXISTS (SELECT FROM projections WHERE chain_id = ${chainId} AND state = ${name} AND version = ${version} AND status = 'built')`;
}
