import type { Transaction } from '@chainstead/db';
import type { RowTable } from './row-table.ts';

/** Temporary tables beside a dataset's own. */
export type StagingTableKind = 'incoming' | 'added' | 'removed';

/** Rows of a transaction that go through the same table come in parts. */
export type Part = 'first' | 'later';

export function stagingTableOf({ name }: Pick<RowTable, 'name'>, kind: StagingTableKind): string {
  return `${kind}_${name}`;
}

/** Copies lines to an empty staging table of the table. @returns its name */
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

/** Fills the empty staging table with what a statement selects. @returns how many rows */
export async function fillStagingTable(
  transaction: Transaction,
  table: RowTable,
  kind: StagingTableKind,
  rows: string,
  values: readonly unknown[],
): Promise<number> {
  const stagingTable = await emptyStagingTable(transaction, table.name, kind);
  const [filled] = await transaction.query<{ rows: number }>(
    `WITH filled AS (INSERT INTO ${stagingTable} (${table.columns.join(', ')}) ${rows} RETURNING 1) SELECT count(*) AS rows FROM filled`,
    values,
  );
  return filled?.rows ?? 0;
}

/** Statements that leave the staging table of a table empty now and at the start of every transaction, for who sends more behind them: it takes no look first. */
export function emptyStaging(table: string, kind: StagingTableKind): readonly string[] {
  const stagingTable = stagingTableOf({ name: table }, kind);
  return [creationOf(stagingTable, table, 'IF NOT EXISTS'), `DELETE FROM ${stagingTable}`];
}

function creationOf(stagingTable: string, table: string, condition: 'IF NOT EXISTS' | '' = ''): string {
  return `CREATE TEMP TABLE ${condition} ${stagingTable} (LIKE ${table}) ON COMMIT DELETE ROWS`;
}

/** The staging table of a table, empty now and at the start of every transaction. @returns its name */
export async function emptyStagingTable(
  transaction: Transaction,
  table: string,
  kind: StagingTableKind,
  part: Part = 'first',
): Promise<string> {
  const stagingTable = stagingTableOf({ name: table }, kind);
  const [existing] = await transaction.query(
    'SELECT 1 AS found FROM pg_class WHERE relname = $1 AND relnamespace = pg_my_temp_schema()',
    [stagingTable],
  );
  if (existing === undefined) await transaction.query(creationOf(stagingTable, table));
  // An earlier step of the same transaction may have left rows. Deleted ones stay in the way of later parts' scans; truncating costs more where there are none.
  else await transaction.query(part === 'first' ? `DELETE FROM ${stagingTable}` : `TRUNCATE ${stagingTable}`);
  return stagingTable;
}
