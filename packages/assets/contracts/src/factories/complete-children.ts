import { type Database, sql } from '@chainstead/db';
import { readRevision } from '../definitions/contract-definition.ts';
import { readMissingTables } from '../tables/missing-tables.ts';

/** Chain ID and table, separated by a space. Rows that depend on others are read last: a lacking child leaves no gap. */
export async function readCompleteChildren(database: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ key: string }>(COMPLETE);
  return new Set(rows.map(({ key }) => key));
}

/** Returns a text that changes with the definitions, with missing tables, and when the children of a contract have become known. Parses no ABI. */
export async function readContractsState(database: Pick<Database, 'query'>): Promise<string> {
  const parts = [await readRevision(database), await readMissingTables(database), await readCompleteChildren(database)];
  return parts.flatMap((part) => (typeof part === 'string' ? [part] : [...part])).join('\n');
}

/** If no block of the chain is followed, the highest block with the events counts. One statement: the checkpoint moves all the time. */
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
