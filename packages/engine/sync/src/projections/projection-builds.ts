import type { ChainId } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { ProjectionProgress } from './projection-record.ts';

export interface ProjectionBuild {
  readonly state: string;
  readonly dataset: string;
  readonly status: ProjectionProgress['status'];
  /** Share of blocks with counted rows, 0 to 1. */
  readonly part: number;
  readonly rows: number;
}

export async function readProjectionBuilds(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<readonly ProjectionBuild[]> {
  return source.query<ProjectionBuild & Record<string, unknown>>(
    sql`SELECT state, dataset, status, rows, CASE status WHEN 'built' THEN 1 WHEN 'clearing' THEN 0
         ELSE greatest(0, least(1, (position - first + 1)::float8 / (newest - first + 1))) END AS part
       FROM projections
         CROSS JOIN (SELECT min(block_number) AS first, max(block_number) AS newest FROM blocks WHERE chain_id = ${chainId}) AS span
      WHERE chain_id = ${chainId} ORDER BY state`,
  );
}

export async function readUnbuilt(
  source: Pick<Database, 'query'>,
): Promise<ReadonlyMap<number, readonly ProjectionBuild[]>> {
  const rows = await source.query<ProjectionBuild & { chainId: number }>(
    sql`SELECT chain_id, state, dataset, status, rows, CASE status WHEN 'clearing' THEN 0
         ELSE greatest(0, least(1, (position - first + 1)::float8 / (newest - first + 1))) END AS part
       FROM projections
         CROSS JOIN LATERAL (SELECT min(block_number) AS first, max(block_number) AS newest FROM blocks WHERE chain_id = projections.chain_id) AS span
      WHERE status <> 'built' ORDER BY chain_id, state`,
  );
  return Map.groupBy(rows, ({ chainId }) => chainId);
}
