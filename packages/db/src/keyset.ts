/** SQL conditions for keyset pagination: a page begins after the last row of the previous page. */

/** The direction of all columns of a key. */
export type KeysetOrder = 'ASC' | 'DESC';

/**
 * Returns the condition that a row comes strictly after a key in the order.
 * @param columns SQL of the order columns, which are not nullable
 * @param values SQL of the key's values, one per column
 */
export function rowsAfter(order: KeysetOrder, columns: readonly string[], values: readonly string[]): string {
  return `(${columns.join(', ')}) ${order === 'DESC' ? '<' : '>'} (${values.join(', ')})`;
}

/**
 * Returns {@link rowsAfter} for a partitioned table. A second condition contains only the first column, by which
 * Postgres prunes partitions.
 */
export function rowsAfterInPartitions(
  order: KeysetOrder,
  columns: readonly string[],
  values: readonly string[],
): readonly [after: string, notBefore: string] {
  return [rowsAfter(order, columns, values), `${columns[0]} ${order === 'DESC' ? '<=' : '>='} ${values[0]}`];
}
