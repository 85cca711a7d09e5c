import type { Transaction } from '@chainstead/db';

/** A column of an insert, and its value in a row. */
export interface InsertColumn<Row> {
  readonly name: string;
  readonly type: 'bigint' | 'boolean' | 'bytea' | 'integer' | 'numeric' | 'text' | 'timestamptz';
  /** `bytea` as `0x` and hexadecimal digits. */
  value(row: Row): string | number | boolean | Date | null;
}

export interface Insert<Row> {
  readonly table: string;
  readonly columns: readonly InsertColumn<Row>[];
  /** `DO NOTHING`, or the update of an existing row. */
  readonly onConflict: string;
}

/**
 * Inserts rows in their order, in statements of at most {@link ROWS_PER_STATEMENT}. Pass them sorted by the table's
 * key: then two writers lock in the same order and can't deadlock.
 * @returns number of new rows
 */
export async function insertRows<Row>(
  transaction: Transaction,
  insert: Insert<Row>,
  rows: readonly Row[],
): Promise<number> {
  const text = insertStatement(insert);
  let added = 0;
  for (let first = 0; first < rows.length; first += ROWS_PER_STATEMENT) {
    const part = rows.slice(first, first + ROWS_PER_STATEMENT);
    const values = insert.columns.map((column) => arrayLiteral(column, part));
    const [result] = await transaction.query<{ added: number }>(text, values);
    added += result?.added ?? 0;
  }
  return added;
}

/** Limits the size of a statement's parameters. */
const ROWS_PER_STATEMENT = 5_000;

/**
 * Returns a statement with one array per column, whose text does not depend on the number of rows. `xmax` is 0 in a new
 * row; with `DO NOTHING`, every returned row is new.
 */
function insertStatement<Row>({ table, columns, onConflict }: Insert<Row>): string {
  const names = columns.map(({ name }) => name).join(', ');
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
  return `WITH written AS (
    INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) ON CONFLICT ${onConflict} RETURNING ${onConflict === 'DO NOTHING' ? 'true' : 'xmax = 0'} AS added
  ) SELECT count(*) FILTER (WHERE added)::integer AS added FROM written`;
}

function arrayLiteral<Row>(column: InsertColumn<Row>, rows: readonly Row[]): string {
  return `{${rows.map((row) => arrayElement(column, column.value(row))).join(',')}}`;
}

function arrayElement<Row>({ type }: InsertColumn<Row>, value: string | number | boolean | Date | null): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (typeof value !== 'string') return String(value);
  if (type === 'bytea') return `"\\\\${value.slice(1)}"`;
  return type === 'text' ? `"${escapeText(value)}"` : value;
}

/** Removes NUL characters, which Postgres can't store. Unpaired surrogates, which UTF-8 can't encode, become U+FFFD. */
function escapeText(text: string): string {
  const storable = text.isWellFormed() ? text : text.toWellFormed();
  return NEEDS_ESCAPE.test(storable) ? storable.replaceAll('\0', '').replaceAll(/["\\]/g, '\\$&') : storable;
}

const NEEDS_ESCAPE = /[\0"\\]/;
