import { hexBytes, joinSql, rawSql, rowsAfter, type Sql, sql } from '@chainstead/db';

export interface IndexColumn {
  readonly column: string;
  readonly type: 'bigint' | 'bytea' | 'integer' | 'numeric' | 'text';
}

/** A leading column of an index and its values, each of which is a scan. `bytea` as hexadecimal digits. */
export interface ScanKey extends IndexColumn {
  readonly values: readonly string[];
}

/** The bounds of an index scan. */
export interface ScanShape {
  /** Index columns before the order columns. */
  readonly lead: readonly ('network' | ScanKey)[];
  /** Index columns after those; none if the lead is unique. */
  readonly order: readonly IndexColumn[];
  /** The indexes are ascending; newest or largest first reads them backwards. */
  readonly direction: 'ASC' | 'DESC';
  /** The order of a page of several scans, if it differs from that of one. */
  readonly merge?: readonly IndexColumn[];
  /** Bounds of the first order column. */
  readonly lowest?: Sql | null;
  readonly highest?: Sql | null;
  /** Like `highest`, but exclusive. */
  readonly below?: Sql | null;
  /** Further conditions of a row. */
  readonly conditions?: readonly Sql[];
  /** The last row of the previous page: its columns of `merge`, or of `order`. */
  readonly after: readonly string[] | null;
  /** That position within one scan, if it does not follow from `after`. @param first the first value of the lead */
  readonly placeInScan?: (first: Sql) => readonly Sql[];
}

/**
 * Returns the conditions of one scan. The position after the previous page replaces the bound on its side, beyond which
 * it lies, since an index scan begins at one bound, not at the tighter of two.
 * @param lead values of the lead's columns
 */
export function scanConditions(shape: ScanShape, lead: readonly Sql[]): readonly Sql[] {
  const { after, direction } = shape;
  const more = [...(shape.conditions ?? []), ...(after === null ? [] : beyondMerged(shape, after))];
  const near = after === null ? null : beyondPlace(shape, lead, after);
  const low = direction === 'ASC' && near !== null ? near : lowBound(shape, lead);
  const high = direction === 'DESC' && near !== null ? near : highBound(shape, lead);
  return [low, high, ...more];
}

/** Less than or equal to every value in the tables. */
const LEAST: Readonly<Record<IndexColumn['type'], string>> = {
  bigint: '0',
  bytea: "'\\x'",
  integer: '0',
  numeric: '0',
  text: "''",
};

function lowBound(shape: ScanShape, lead: readonly Sql[]): Sql {
  const [first] = shape.order;
  if (first === undefined) return comparison(shape, [], '>=', lead);
  return comparison(shape, [first], '>=', [...lead, shape.lowest ?? rawSql(`${LEAST[first.type]}::${first.type}`)]);
}

function highBound(shape: ScanShape, lead: readonly Sql[]): Sql {
  const [first] = shape.order;
  const { highest = null, below = null } = shape;
  if (first !== undefined && highest !== null) return comparison(shape, [first], '<=', [...lead, highest]);
  if (first !== undefined && below !== null) return comparison(shape, [first], '<', [...lead, below]);
  return comparison(shape, [], '<=', lead);
}

/**
 * Returns the condition of the position in the scan: strictly after it if it is complete, otherwise from it on. Null if
 * no column of it is in the index.
 */
function beyondPlace(shape: ScanShape, lead: readonly Sql[], after: readonly string[]): Sql | null {
  const { order, direction } = shape;
  const merge = shape.merge ?? order;
  const strict = direction === 'ASC' ? '>' : '<';
  const [first] = lead;
  if (shape.placeInScan !== undefined && first !== undefined)
    return comparison(shape, order, strict, [...lead, ...shape.placeInScan(first)]);
  const different = order.findIndex(({ column }, index) => column !== merge[index]?.column);
  const shared = different === -1 ? order : order.slice(0, different);
  if (shared.length === 0) return null;
  const place = shared.map((column, index) => typedValue(column, after[index] ?? ''));
  return comparison(shape, shared, merge.length === order.length ? strict : `${strict}=`, [...lead, ...place]);
}

/** Returns the condition for rows after the page's position, if it has columns that the scan's order lacks. */
function beyondMerged({ merge, placeInScan, direction }: ScanShape, after: readonly string[]): readonly Sql[] {
  if (merge === undefined || placeInScan !== undefined) return [];
  const columns = merge.map(({ column }) => `row.${column}`);
  const place = merge.map((column, index) => typedValue(column, after[index] ?? ''));
  return [rowsAfter(direction, columns, place)];
}

/** Compares the lead and some columns after it. */
function comparison(shape: ScanShape, columns: readonly IndexColumn[], operator: string, values: readonly Sql[]): Sql {
  const names = [...shape.lead, ...columns].map((column) => `row.${column === 'network' ? column : column.column}`);
  return sql`(${rawSql(names.join(', '))}) ${rawSql(operator)} (${joinSql(values)})`;
}

/** Returns a value that a column is compared with. */
export function typedValue({ type }: Pick<IndexColumn, 'type'>, value: string): Sql {
  return sql`${type === 'bytea' ? hexBytes(value) : value}::${rawSql(type)}`;
}
