import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { DerivedProgress } from './derived-record.ts';

/** How far a derived state of a chain is built. */
export interface DerivedBuild {
  readonly state: string;
  readonly dataset: string;
  readonly status: DerivedProgress['status'];
  /** Part of the chain's blocks whose rows it counts, 0 to 1. */
  readonly part: number;
  /** Rows that were counted since building began. */
  readonly rows: number;
}

/** Of every state that has a record. */
export async function readDerivedBuilds(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<readonly DerivedBuild[]> {
  return source.query<DerivedBuild & Record<string, unknown>>(
    `SELECT state, dataset, status, rows, CASE status WHEN 'built' THEN 1 WHEN 'clearing' THEN 0
         ELSE greatest(0, least(1, (position - first + 1)::float8 / (newest - first + 1))) END AS part
       FROM derived_states
         CROSS JOIN (SELECT min(block_number) AS first, max(block_number) AS newest FROM blocks WHERE chain_id = $1) AS span
      WHERE chain_id = $1 ORDER BY state`,
    [chainId],
  );
}

/** Of every state that is not built, by chain: one statement, however many chains there are. */
export async function readUnbuilt(
  source: Pick<Database, 'query'>,
): Promise<ReadonlyMap<number, readonly DerivedBuild[]>> {
  const rows = await source.query<DerivedBuild & { chainId: number }>(
    `SELECT chain_id AS "chainId", state, dataset, status, rows, CASE status WHEN 'clearing' THEN 0
         ELSE greatest(0, least(1, (position - first + 1)::float8 / (newest - first + 1))) END AS part
       FROM derived_states
         CROSS JOIN LATERAL (SELECT min(block_number) AS first, max(block_number) AS newest FROM blocks WHERE chain_id = derived_states.chain_id) AS span
      WHERE status <> 'built' ORDER BY chain_id, state`,
  );
  return Map.groupBy(rows, ({ chainId }) => chainId);
}
