import type { Transaction } from '@chainstead/db';

/**
 * Empties a temporary table with an index, or creates it. @param columns as in `CREATE TABLE` @param key column names
 * of the index
 */
export async function emptyTemporary(
  transaction: Transaction,
  name: string,
  columns: string,
  key: readonly string[],
): Promise<void> {
  const [existing] = await transaction.query(
    'SELECT 1 AS found FROM pg_class WHERE relname = $1 AND relnamespace = pg_my_temp_schema()',
    [name],
  );
  if (existing !== undefined) {
    await transaction.query(`DELETE FROM ${name}`);
    return;
  }
  await transaction.query(`CREATE TEMP TABLE ${name} (${columns}) ON COMMIT DELETE ROWS`);
  await transaction.query(`CREATE INDEX ON ${name} (${key.join(', ')})`);
}
