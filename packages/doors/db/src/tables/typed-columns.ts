/** SQL names, checked against a `schema.ts`. */
import { getTableColumns, getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { joinSql, rawSql, type Sql, sql } from '../sql.ts';

export type ColumnOf<Table extends PgTable> = keyof Table['_']['columns'] & string;

export type ColumnsOf<Table extends PgTable> = Readonly<Record<ColumnOf<Table>, Sql>>;

/** @example columnsAs(erc20Transfers, 'moved').blockNumber // moved.block_number */
export function columnsAs<Table extends PgTable>(table: Table, alias: string): ColumnsOf<Table> {
  const columns = Object.entries(getTableColumns(table));
  return Object.fromEntries(
    columns.map(([property, { name }]) => [property, rawSql(`${alias}.${name}`)]),
  ) as ColumnsOf<Table>;
}

export function namesOf<Table extends PgTable>(table: Table, properties: readonly ColumnOf<Table>[]) {
  const columns: Record<string, { readonly name: string }> = getTableColumns(table);
  return properties.map((property) => columns[property]?.name ?? property);
}

/** `token, chain_id`. @param alias of their relation @default none */
export function columnList<Table extends PgTable>(
  table: Table,
  properties: readonly ColumnOf<Table>[],
  alias?: string,
): Sql {
  const names = namesOf(table, properties);
  return joinSql(names.map((name) => rawSql(alias === undefined ? name : `${alias}.${name}`)));
}

export function tableName(table: PgTable): Sql {
  return rawSql(getTableName(table));
}

export function hasSameKey<Table extends PgTable>(
  table: Table,
  key: readonly ColumnOf<Table>[],
  left: string,
  right: string,
): Sql {
  return rawSql(
    namesOf(table, key)
      .map((name) => `${left}.${name} = ${right}.${name}`)
      .join(' AND '),
  );
}

/** Rows are aliased `stored`; `keys` returns their keys. */
export function deleteByKey<Table extends PgTable>(
  table: Table,
  key: readonly ColumnOf<Table>[],
  keys: Sql,
  condition?: Sql,
): Sql {
  const also = condition === undefined ? rawSql('') : sql` AND (${condition})`;
  return sql`WITH touched AS MATERIALIZED (${keys})
DELETE FROM ${tableName(table)} AS stored USING touched WHERE ${hasSameKey(table, key, 'stored', 'touched')}${also}`;
}
