/** SQL conditions for keyset pagination: a page begins after the last row of the previous page. */

import { asSql, joinSql, rawSql, type Sql, sql } from './sql.ts';

/** The direction of all columns of a key. */
export type KeysetOrder = 'ASC' | 'DESC';

/**
 * Returns the condition that a row comes strictly after a key in the order.
 * @param columns the order columns, which are not nullable: names or SQL
 * @param values the key's values as SQL, one per column
 */
export function rowsAfter(order: KeysetOrder, columns: readonly (string | Sql)[], values: readonly Sql[]): Sql {
  return sql`(${joinSql(columns.map(asSql))}) ${rawSql(order === 'DESC' ? '<' : '>')} (${joinSql(values)})`;
}

/**
 * Returns {@link rowsAfter} for a partitioned table. A second condition contains only the first column, by which
 * Postgres prunes partitions.
 */
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
