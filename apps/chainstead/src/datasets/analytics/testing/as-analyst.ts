import { type Database, rawSql, sql } from '@chainstead/db';

/** Runs a query with the rights of the reading role and no others, and keeps its names. @param settings statements before it */
export function asAnalyst<Row extends object>(
  database: Database,
  query: string,
  ...settings: readonly string[]
): Promise<Row[]> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql`SET LOCAL ROLE chainstead_reader`);
    for (const setting of settings) await transaction.query(rawSql(setting));
    return (await transaction.client.query<Row>(query)).rows;
  });
}

/** The plan of a query that may not read a table whole: few rows are read faster that way, though an index can serve. */
export async function indexedPlan(database: Database, query: string): Promise<string> {
  const plan = await asAnalyst<{ 'QUERY PLAN': string }>(
    database,
    `EXPLAIN ${query}`,
    'SET LOCAL enable_seqscan = off',
  );
  return plan.map((row) => row['QUERY PLAN'].trim()).join('\n');
}
