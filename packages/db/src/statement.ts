/** Fragments that many statements contain, and values of columns. */
import type { Address } from '@chainstead/core';
import { asSql, joinSql, rawSql, type Sql, sql } from './sql.ts';

/** Returns an address as a value for `bytea` columns. */
export function addressBytes(address: Address): Buffer {
  return hexBytes(address);
}

/** Returns hexadecimal digits, with or without `0x`, as a value for `bytea` columns. */
export function hexBytes(hex: string): Buffer {
  return Buffer.from(hex.startsWith('0x') ? hex.slice(2) : hex, 'hex');
}

/**
 * Returns the condition in a form that the planner expects to hold for nearly every row (0.995), whatever the
 * statistics.
 */
export function expectedTrue(condition: Sql): Sql {
  return sql`(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

/** Returns `WHERE` with all conditions; empty text without conditions. */
export function where(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? rawSql('') : sql`WHERE ${joinSql(conditions, ' AND ')}`;
}

/** Returns a `bytea` as API text. @param column its name, or SQL of the value */
export function hexText(column: string | Sql): Sql {
  return sql`'0x' || encode(${asSql(column)}, 'hex')`;
}

/**
 * Returns SQL for that many seconds from now; null for null. Not `now() + interval`, which is only stable: on Citus,
 * expressions of an UPDATE over a row's columns must be immutable, and its CASEs may not contain `now()`.
 */
export function fromNow(seconds: Sql): Sql {
  return sql`to_timestamp(extract(epoch FROM now())::float8 + ${seconds})`;
}
