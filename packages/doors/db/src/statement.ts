/** Fragments that many statements contain, and values of columns. */
import type { Address } from '@chainstead/core';
import { asSql, joinSql, rawSql, type Sql, sql } from './sql.ts';

/** For `bytea` columns. */
export function addressBytes(address: Address): Buffer {
  return hexBytes(address);
}

/** Hexadecimal digits, with or without `0x`, for `bytea` columns. */
export function hexBytes(hex: string): Buffer {
  return Buffer.from(hex.startsWith('0x') ? hex.slice(2) : hex, 'hex');
}

/** The planner expects this form to hold for nearly every row (0.995), whatever the statistics. */
export function expectedTrue(condition: Sql): Sql {
  return sql`(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

/** Empty text without conditions. */
export function where(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? rawSql('') : sql`WHERE ${joinSql(conditions, ' AND ')}`;
}

/** A `bytea` as API text. @param column its name, or SQL of the value */
export function hexText(column: string | Sql): Sql {
  return sql`'0x' || encode(${asSql(column)}, 'hex')`;
}

/** Seconds from now; null for null. On Citus, `now()` can't be in expressions or CASEs of an UPDATE over a row's columns. */
export function fromNow(seconds: Sql): Sql {
  return sql`to_timestamp(extract(epoch FROM now())::float8 + ${seconds})`;
}
