/** Environment variable with the folder for observations of test processes. Without it, nothing is recorded. */
export const OBSERVED_FOLDER_VARIABLE = 'CHAINSTEAD_OBSERVED_ROWS';

/** Result of one database call, observed during tests. */
export interface ObservedRows {
  /**
   * Source locations of the calls that led to the statement, innermost first: `packages/engine/sync/src/checkpoint.ts:27:30`.
   */
  readonly frames: readonly string[];
  readonly columns: readonly ObservedColumn[];
}

export interface ObservedColumn {
  readonly name: string;
  /** Kinds of the observed values ({@link kindOf}), including `null`; empty if no row was returned. */
  readonly kinds: readonly string[];
}

/**
 * Returns the kind of a value for comparison with row types: `string`, `number`, `boolean`, `bigint`, `null`, `Date`,
 * `Buffer`, `object`, or a kind followed by `[]`. An empty array is `[]`.
 */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (value instanceof Date) return 'Date';
  if (value instanceof Uint8Array) return 'Buffer';
  // One kind for all elements: the column's parser returns the same for each.
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `${kindOf(value[0])}[]`;
  return 'object';
}
