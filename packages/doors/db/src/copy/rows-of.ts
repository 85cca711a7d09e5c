import { getTableColumns } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { widthOf } from '../columns/column-types.ts';
import { joinSql, rawSql, type Sql, sql } from '../sql.ts';
import {
  boolean,
  digits,
  hex,
  hexOrNull,
  int4,
  int8,
  longHex,
  longHexOrNull,
  moment,
  type PackedColumn,
  type PackedRows,
  packedRows,
  text,
  textOrNull,
} from './packed-rows.ts';

/** By names in SQL. A time is text. */
export type RowByName<Table extends PgTable> = {
  [Property in keyof Table['$inferSelect'] & string as SnakeCase<Property>]: AsRead<
    Table['$inferSelect'][Property]
  >;
};

type AsRead<Value> = Value extends Date ? string : Value;

type SnakeCase<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

type Also = Readonly<Record<string, PackedColumn<unknown>>>;

type RowsOf<Table extends PgTable, But extends PropertyKey, More extends Also> = PackedRows<
  Omit<RowByName<Table>, But> & { [Name in keyof More]: ReturnType<More[Name]['read']> }
> & {
  /** The table's columns among them, for the relation that is packed. */
  columnsOf(alias: string): Sql;
};

/**
 * All columns of a table but those of these names: a new column is read without a change.
 * @param also others, such as null as a number
 * @example rowsOf(erc20Transfers, ['account_key', 'chain_id', 'account'])
 */
export function rowsOf<
  Table extends PgTable,
  const But extends keyof RowByName<Table>,
  const More extends Also = Record<never, never>,
>(table: Table, but: readonly But[], also?: More): RowsOf<Table, But, More>;
export function rowsOf(table: PgTable, but: readonly string[], also: Also = {}) {
  const columns = Object.values(getTableColumns(table)).filter(({ name }) => !but.includes(name));
  const packed = Object.fromEntries(columns.map((column) => [column.name, packedColumn(column)]));
  const columnsOf = (alias: string): Sql => joinSql(columns.map(({ name }) => rawSql(`${alias}.${name}`)));
  return { ...packedRows({ ...packed, ...also }), columnsOf };
}

function packedColumn(column: PgColumn): PackedColumn<unknown> {
  const { name, notNull } = column;
  const type = column.getSQLType();
  if (type === 'bytea') return bytesColumn(name, widthOf(column), notNull);
  if (type === 'text') return notNull ? text(name) : textOrNull(name);
  if (/^numeric[^[]*$/.test(type)) return notNull ? digits(name) : textOrNull(sql`${rawSql(name)}::text`);
  const read = column.columnType === 'PgBigInt53' ? int8 : READERS[type];
  if (read === undefined || !notNull) throw new TypeError(`Column ${name} has no packed form: name its reader`);
  return read(name);
}

const READERS: Readonly<Record<string, (name: string) => PackedColumn<unknown>>> = {
  smallint: int4,
  integer: int4,
  bigint: digits,
  boolean,
  'timestamp with time zone': moment,
};

function bytesColumn(name: string, width: number | undefined, isRequired: boolean): PackedColumn<unknown> {
  if (width !== undefined) return isRequired ? hex(name, width) : hexOrNull(name, width);
  const { read, ...column } = isRequired ? longHex(name) : longHexOrNull(name);
  return { ...column, read: (digits: string) => (read(digits) === null ? null : `0x${read(digits)}`) };
}
