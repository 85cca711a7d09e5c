import { type Database, sql } from '@chainstead/db';

export async function readMissingTables(database: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ name: string }>(MISSING);
  return new Set(rows.map(({ name }) => name));
}

export const MISSING = sql`SELECT DISTINCT event_table AS name
  FROM contract_definitions CROSS JOIN LATERAL jsonb_array_elements(events) AS event
  CROSS JOIN LATERAL (SELECT 'contracts.' || name || '_' || (event ->> 'event') AS event_table) AS named
  WHERE to_regclass(event_table) IS NULL ORDER BY name`;
