/** SQL that is put together from pieces. */
import type { Address } from '@chainstead/core';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Adds a value to a statement and gives its placeholder. */
export type Bind = (value: unknown) => string;

/**
 * Makes statements whose text is put together once for each shape: for a list that is asked for often, to make the text and to find out that it is
 * prepared takes longer than to send it.
 * @param shapeOf tells all that the text depends on
 * @param build puts the text together; what it binds are functions, which give the values of each request
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

/** Of one list; each some kB. */
const SHAPES_MAX = 1_000;

/** The condition, written so that the planner expects it of nearly every row (0.995) whatever statistics say. */
export function expectedTrue(condition: string): string {
  return `(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

/** `WHERE` with all of the conditions; nothing for none. */
export function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/** A `bytea` column as the text that the API shows. */
export function hexText(column: string): string {
  return `'0x' || encode(${column}, 'hex')`;
}

/**
 * That many seconds from now, as SQL; null for null. Not `now() + interval`, which is only stable: what an UPDATE on Citus makes of a
 * row's columns must be immutable, and its CASEs hold no `now()`.
 */
export function fromNow(seconds: string): string {
  return `to_timestamp(extract(epoch FROM now())::float8 + ${seconds})`;
}

/** An address as `bytea` columns take it. */
export function addressBytes(address: Address): Buffer {
  return hexBytes(address);
}

/** Hexadecimal digits, with or without `0x`, as `bytea` columns take them. */
export function hexBytes(hex: string): Buffer {
  return Buffer.from(hex.startsWith('0x') ? hex.slice(2) : hex, 'hex');
}
