import { type Database, sql } from '@chainstead/db';
import { REVISION } from '../definitions/contract-definition.ts';
import { MISSING } from '../tables/missing-tables.ts';

export async function readCompleteChildren(database: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ key: string }>(COMPLETE);
  return new Set(rows.map(({ key }) => key));
}

/** Changes with definitions, missing tables and known children. One statement: it is read often. */
export async function readContractsState(database: Pick<Database, 'query'>): Promise<string> {
  const [row] = await database.query<{ state: string }>(STATE);
  return row?.state ?? '';
}

/** Unfollowed chain: up to the highest block with events. One statement: the checkpoint moves. */
const COMPLETE = sql`SELECT chain_id || ' ' || dataset AS key
  FROM contract_definitions
  CROSS JOIN LATERAL (VALUES (factory), (upgrades)) AS naming (item)
  CROSS JOIN LATERAL (
    SELECT 'contracts.' || name || '_' || (item ->> 'event') AS dataset, (item ->> 'firstBlock')::bigint AS first) AS made
  WHERE item IS NOT NULL AND suspended_reason IS NULL AND (
    SELECT range_agg(int8range(covered.first_block, covered.last_block, '[]')) @> int8range(made.first, greatest(made.first, 1 + coalesce(
        (SELECT checkpoint FROM sync_chains AS known WHERE known.chain_id = contract_definitions.chain_id), max(covered.last_block))))
      FROM sync_ranges AS covered WHERE covered.chain_id = contract_definitions.chain_id AND covered.dataset = made.dataset)
  ORDER BY key`;

const STATE = sql`SELECT jsonb_build_array((${REVISION}), ARRAY(${MISSING}), ARRAY(${COMPLETE}))::text AS state`;
