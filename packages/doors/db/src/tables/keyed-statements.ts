import type { PgTable } from 'drizzle-orm/pg-core';
import { rawSql, type Sql, sql } from '../sql.ts';
import { type ColumnOf, namesOf, tableName } from './typed-columns.ts';

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
