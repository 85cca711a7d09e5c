/** Keyset pagination: a page begins after the previous page's last row. */

import { asSql, joinSql, rawSql, type Sql, sql } from './sql.ts';

export type KeysetOrder = 'ASC' | 'DESC';

/** Strictly after a key. `columns` are not nullable; `values`: one per column. */
export function rowsAfter(order: KeysetOrder, columns: readonly (string | Sql)[], values: readonly Sql[]): Sql {
  // Invariant: PAGE-KEYSET
  return sql`(${joinSql(columns.map(asSql))}) ${rawSql(order === 'DESC' ? '<' : '>')} (${joinSql(values)})`;
}

/** The second condition prunes partitions by the first column. */
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
