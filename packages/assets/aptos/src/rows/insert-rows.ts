import { isObject } from '@chainstead/core';
import { joinSql, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';

type ColumnType = 'bigint' | 'boolean' | 'bytea' | 'integer' | 'numeric' | 'text' | 'timestamptz';

/** `?`: may be null. */
type ColumnTypes = Readonly<Record<string, ColumnType | `${ColumnType}?`>>;

interface ValueOfType {
  bigint: number;
  boolean: boolean;
  /** `0x` and hexadecimal digits. */
  bytea: string;
  integer: number;
  numeric: string;
  text: string;
  timestamptz: Date;
}

/** A row to insert, by column. */
export type Inserted<Columns extends ColumnTypes> = {
  readonly [Name in keyof Columns]: Columns[Name] extends ColumnType
    ? ValueOfType[Columns[Name]]
    : ValueOfType[Columns[Name] extends `${infer Type extends ColumnType}?` ? Type : never] | null;
};

type Value = ValueOfType[ColumnType] | null;

interface Insert {
  readonly table: string;
  readonly columns: ColumnTypes;
  /** Null: existing rows stay. */
  readonly onConflict: Sql | null;
}

/** Rows must be sorted by key: two writers lock in one order. @returns number of new rows */
export async function insertRows(
  transaction: Transaction,
  insert: Insert,
  rows: readonly Readonly<Record<string, Value>>[],
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
function insertStatement(
  { table, columns, onConflict }: Insert,
  rows: readonly Readonly<Record<string, Value>>[],
) {
  const names = Object.keys(columns).map(rawSql);
  const arrays = Object.entries(columns).map(([name, column]) => {
    const type = column.replace('?', '');
    const elements = rows.map((row) => arrayElement(type, row[name] ?? null));
    return sql`${`{${elements.join(',')}}`}::${rawSql(type)}[]`;
  });
  const isNew = rawSql(onConflict === null ? 'true' : 'xmax = 0');
  return sql`WITH written AS (
    INSERT INTO ${rawSql(table)} (${joinSql(names)}) SELECT * FROM unnest(${joinSql(arrays)}) ON CONFLICT ${onConflict ?? rawSql('DO NOTHING')} RETURNING ${isNew} AS added
  ) SELECT count(*) FILTER (WHERE added)::integer AS added FROM written`;
}

function arrayElement(type: string, value: Value): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (typeof value !== 'string') return String(value);
  if (type === 'bytea') return `"\\\\${value.slice(1)}"`;
  // No NUL in Postgres, no unpaired surrogates in UTF-8 (U+FFFD).
  return type === 'text' ? `"${value.toWellFormed().replaceAll('\0', '').replaceAll(/["\\]/g, '\\$&')}"` : value;
}

export function jsonObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return isObject(value) ? value : null;
}

/** `Option`: `{"vec": []}` or `{"vec": [element]}`. */
export function optionValue(value: unknown): unknown {
  const vector = jsonObject(value)?.vec;
  return Array.isArray(vector) ? vector[0] : undefined;
}

export function decimalDigits(value: unknown): string | null {
  return typeof value === 'string' && DECIMAL.test(value) ? value : null;
}

const DECIMAL = /^[0-9]{1,39}$/;
