import { rawSql, sql, type Transaction } from '@chainstead/db';

export async function emptyTemporary(
  transaction: Transaction,
  name: string,
  columns: string,
  key: readonly string[],
): Promise<void> {
  const [existing] = await transaction.query(
    sql`SELECT 1 AS found FROM pg_class WHERE relname = ${name} AND relnamespace = pg_my_temp_schema()`,
  );
  if (existing !== undefined) {
    await transaction.query(sql`DELETE FROM ${rawSql(name)}`);
    return;
  }
  await transaction.query(sql`CREATE TEMP TABLE ${rawSql(name)} (${rawSql(columns)}) ON COMMIT DELETE ROWS`);
  await transaction.query(sql`CREATE INDEX ON ${rawSql(name)} (${rawSql(key.join(', '))})`);
}
