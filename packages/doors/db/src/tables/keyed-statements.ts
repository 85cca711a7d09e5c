/** Statements over the rows of a table selected by key. */
import type { PgTable } from 'drizzle-orm/pg-core';
import { rawSql, type Sql, sql } from '../sql.ts';
import { type ColumnOf, namesOf, tableName } from './typed-columns.ts';

/** Two relations are equal in these columns. */
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

/** Deletes rows, aliased `stored`, whose key is returned by the query `keys`, and which meet a further condition. */
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
