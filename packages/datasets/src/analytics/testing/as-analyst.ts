import type { Database } from '@chainstead/db';

/** Runs a query with the rights of the reading role and no others. @param settings statements before it */
export function asAnalyst<Row extends object>(
  database: Database,
  sql: string,
  ...settings: readonly string[]
): Promise<Row[]> {
  return database.transaction(async (transaction) => {
    await transaction.query('SET LOCAL ROLE chainstead_reader');
    for (const setting of settings) await transaction.query(setting);
    return transaction.query<Row>(sql);
  });
}

/** The plan of a query that may not read a table whole: few rows are read faster that way, though an index can serve. */
export async function indexedPlan(database: Database, sql: string): Promise<string> {
  const plan = await asAnalyst<{ 'QUERY PLAN': string }>(database, `EXPLAIN ${sql}`, 'SET LOCAL enable_seqscan = off');
  return plan.map((row) => row['QUERY PLAN'].trim()).join('\n');
}
