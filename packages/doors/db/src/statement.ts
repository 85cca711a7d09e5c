import type { Address } from '@chainstead/core';
import { asSql, joinSql, rawSql, type Sql, sql } from './sql.ts';

export function addressBytes(address: Address): Buffer {
  return hexBytes(address);
}

/** With or without `0x`, for `bytea`. */
export function hexBytes(hex: string): Buffer {
  return Buffer.from(hex.startsWith('0x') ? hex.slice(2) : hex, 'hex');
}

/** The planner expects this form for nearly every row (0.995), whatever the statistics. */
export function expectedTrue(condition: Sql): Sql {
  return sql`(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

export function where(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? rawSql('') : sql`WHERE ${joinSql(conditions, ' AND ')}`;
}

export function hexText(column: string | Sql): Sql {
  return sql`'0x' || encode(${asSql(column)}, 'hex')`;
}

/** Seconds from now; null for null. On Citus, an UPDATE can't combine `now()` with columns. */
export function fromNow(seconds: Sql): Sql {
  return sql`to_timestamp(extract(epoch FROM now())::float8 + ${seconds})`;
}

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
