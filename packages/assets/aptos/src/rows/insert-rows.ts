import { joinSql, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';

export interface InsertColumn<Row> {
  readonly name: string;
  readonly type: 'bigint' | 'boolean' | 'bytea' | 'integer' | 'numeric' | 'text' | 'timestamptz';
  /** `bytea`: `0x` and hexadecimal digits. */
  value(row: Row): string | number | boolean | Date | null;
}

export interface Insert<Row> {
  readonly table: string;
  readonly columns: readonly InsertColumn<Row>[];
  /** Null: existing rows stay. */
  readonly onConflict: Sql | null;
}

/** Rows must be sorted by key: two writers lock in one order. @returns number of new rows */
export async function insertRows<Row>(
  transaction: Transaction,
  insert: Insert<Row>,
  rows: readonly Row[],
): Promise<number> {
  let added = 0;
  for (let first = 0; first < rows.length; first += ROWS_PER_STATEMENT) {
    const part = rows.slice(first, first + ROWS_PER_STATEMENT);
    const [result] = await transaction.query<{ added: number }>(insertStatement(insert, part));
    added += result?.added ?? 0;
  }
  return added;
}

const ROWS_PER_STATEMENT = 5_000;

/** One text for any number of rows. `xmax` is 0 in a new one. */
function insertStatement<Row>({ table, columns, onConflict }: Insert<Row>, rows: readonly Row[]): Sql {
  const names = columns.map(({ name }) => rawSql(name));
  const arrays = columns.map((column) => {
    const elements = rows.map((row) => arrayElement(column, column.value(row)));
    return sql`${`{${elements.join(',')}}`}::${rawSql(column.type)}[]`;
  });
  const isNew = rawSql(onConflict === null ? 'true' : 'xmax = 0');
  return sql`WITH written AS (
    INSERT INTO ${rawSql(table)} (${joinSql(names)}) SELECT * FROM unnest(${joinSql(arrays)}) ON CONFLICT ${onConflict ?? rawSql('DO NOTHING')} RETURNING ${isNew} AS added
  ) SELECT count(*) FILTER (WHERE added)::integer AS added FROM written`;
}

function arrayElement<Row>({ type }: InsertColumn<Row>, value: string | number | boolean | Date | null): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (typeof value !== 'string') return String(value);
  if (type === 'bytea') return `"\\\\${value.slice(1)}"`;
  // No NUL in Postgres, no unpaired surrogates in UTF-8 (U+FFFD).
  return type === 'text' ? `"${value.toWellFormed().replaceAll('\0', '').replaceAll(/["\\]/g, '\\$&')}"` : value;
}
