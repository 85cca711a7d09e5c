import { rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import type { RowTable } from '../dataset/row-table.ts';

export type StagingTableKind = 'incoming' | 'added' | 'removed';

export type Part = 'first' | 'later';

/** Temporary tables have no schema to choose. */
export function stagingTableOf({ name }: Pick<RowTable, 'name'>, kind: StagingTableKind): string {
  return `${kind}_${name.replace('.', '_')}`;
}

export async function copyToStagingTable(
  transaction: Transaction,
  { name, columns }: Pick<RowTable, 'name' | 'columns'>,
  kind: StagingTableKind,
  lines: readonly string[],
  part: Part = 'first',
): Promise<string> {
  const stagingTable = await emptyStagingTable(transaction, name, kind, part);
  await transaction.copy(stagingTable, columns, lines);
  return stagingTable;
}

export async function fillStagingTable(
  transaction: Transaction,
  table: RowTable,
  kind: StagingTableKind,
  selected: Sql,
): Promise<number> {
  const stagingTable = await emptyStagingTable(transaction, table.name, kind);
  const [filled] = await transaction.query<{ rows: number }>(
    sql`WITH filled AS (INSERT INTO ${rawSql(`${stagingTable} (${table.columns.join(', ')})`)} ${selected} RETURNING 1) SELECT count(*) AS rows FROM filled`,
  );
  return filled?.rows ?? 0;
}

/** Without a lookup, to be sent together with other statements. */
export function emptyStaging(table: string, kind: StagingTableKind): readonly Sql[] {
  const stagingTable = stagingTableOf({ name: table }, kind);
  return [creationOf(stagingTable, table, 'IF NOT EXISTS'), rawSql(`DELETE FROM ${stagingTable}`)];
}

function creationOf(stagingTable: string, table: string, condition: 'IF NOT EXISTS' | '' = ''): Sql {
  return rawSql(`CREATE TEMP TABLE ${condition} ${stagingTable} (LIKE ${table}) ON COMMIT DELETE ROWS`);
}

/** Empty at the start of every transaction. @returns its name */
export async function emptyStagingTable(
  transaction: Transaction,
  table: string,
  kind: StagingTableKind,
  part: Part = 'first',
): Promise<string> {
  const stagingTable = stagingTableOf({ name: table }, kind);
  const [existing] = await transaction.query(
    sql`SELECT 1 AS found FROM pg_class WHERE relname = ${stagingTable} AND relnamespace = pg_my_temp_schema()`,
  );
  if (existing === undefined) await transaction.query(creationOf(stagingTable, table));
  // Deleted rows slow down scans of later parts; truncating an empty table costs more.
  else
    await transaction.query(
      rawSql(part === 'first' ? `DELETE FROM ${stagingTable}` : `TRUNCATE ${stagingTable}`),
    );
  return stagingTable;
}
