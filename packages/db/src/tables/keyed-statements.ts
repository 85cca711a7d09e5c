/** Statements over the rows of a table selected by key. */
import type { PgTable } from 'drizzle-orm/pg-core';
import { joinSql, rawSql, type Sql, sql } from '../sql.ts';
import { type ColumnOf, namesOf, tableName } from './typed-columns.ts';

/** Returns the condition that two relations are equal in these columns. */
export function hasSameKey<Table extends PgTable>(
  table: Table,
  key: readonly ColumnOf<Table>[],
  one: string,
  other: string,
): Sql {
  const names = namesOf(table, key);
  return joinSql(
    names.map((name) => rawSql(`${one}.${name} = ${other}.${name}`)),
    ' AND ',
  );
}

/**
 * Returns a DELETE of a table's rows, aliased `stored`, whose key is returned by a query.
 * @param keys a query of the key's columns, with their names
 * @param condition further condition on the rows. @default none
 */
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
