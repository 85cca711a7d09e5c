/** SQL conditions for keyset pagination: a page begins after the last row of the previous page. */

import { asSql, joinSql, rawSql, type Sql, sql } from './sql.ts';

export type KeysetOrder = 'ASC' | 'DESC';

/** A row comes strictly after a key. `columns` are not nullable; `values` are SQL, one per column. */
export function rowsAfter(order: KeysetOrder, columns: readonly (string | Sql)[], values: readonly Sql[]): Sql {
  // Invariant: PAGE-KEYSET
  return sql`(${joinSql(columns.map(asSql))}) ${rawSql(order === 'DESC' ? '<' : '>')} (${joinSql(values)})`;
}

/** {@link rowsAfter} for a partitioned table, and a condition on the first column, by which Postgres prunes partitions. */
export function rowsAfterInPartitions(
  order: KeysetOrder,
  [column, ...columns]: readonly [string | Sql, ...(string | Sql)[]],
  [value, ...values]: readonly [Sql, ...Sql[]],
): readonly [after: Sql, notBefore: Sql] {
  return [
    rowsAfter(order, [column, ...columns], [value, ...values]),
    sql`${asSql(column)} ${rawSql(order === 'DESC' ? '<=' : '>=')} ${value}`,
  ];
}
