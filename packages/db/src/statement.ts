/** Fragments that many statements contain, and values of columns. */
import type { Address } from '@chainstead/core';
import { asSql, joinSql, rawSql, type Sql, type Statement, sql } from './sql.ts';

/** Adds a value to a statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

/**
 * Returns a statement builder that builds the text only once per shape. For frequently requested lists: building the
 * text and looking up its prepared statement take longer than sending it.
 * @param shapeOf returns a key of everything that the text depends on
 * @param build builds the text; it binds functions that return the values of each request
 */
export function shapedStatement<Given>(
  shapeOf: (given: Given) => string,
  build: (given: Given, bind: (pick: (given: Given) => unknown) => string) => string,
): (given: Given) => Statement {
  const shapes = new Map<string, { readonly text: string; readonly values: readonly ((given: Given) => unknown)[] }>();
  return (given) => {
    const name = shapeOf(given);
    const known = shapes.get(name);
    if (known !== undefined) return { text: known.text, values: known.values.map((pick) => pick(given)) };
    const values: ((given: Given) => unknown)[] = [];
    const text = build(given, (pick) => `$${values.push(pick)}`);
    if (shapes.size >= SHAPES_MAX) shapes.clear();
    shapes.set(name, { text, values });
    return { text, values: values.map((pick) => pick(given)) };
  };
}

/** Per list; each takes some kB. */
const SHAPES_MAX = 1_000;

/**
 * Returns the condition in a form that the planner expects to hold for nearly every row (0.995), whatever the
 * statistics.
 */
export function expectedTrueOld(condition: string): string {
  return `(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

/** Returns `WHERE` with all conditions; empty text without conditions. */
export function whereOld(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/** Returns SQL for a `bytea` column as API text. */
export function hexTextOld(column: string): string {
  return `'0x' || encode(${column}, 'hex')`;
}

/**
 * Returns SQL for that many seconds from now; null for null. Not `now() + interval`, which is only stable: on Citus,
 * expressions of an UPDATE over a row's columns must be immutable, and its CASEs may not contain `now()`.
 */
export function fromNowOld(seconds: string): string {
  return `to_timestamp(extract(epoch FROM now())::float8 + ${seconds})`;
}

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
