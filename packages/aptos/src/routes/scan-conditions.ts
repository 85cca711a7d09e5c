import { type Bind, hexBytes, rowsAfterOld } from '@chainstead/db';

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
  /** Bounds of the first order column, as SQL. */
  readonly lowest?: (bind: Bind) => string | null;
  readonly highest?: (bind: Bind) => string | null;
  /** Like `highest`, but exclusive. */
  readonly below?: (bind: Bind) => string | null;
  /** Further conditions of a row. */
  readonly conditions?: (bind: Bind) => readonly string[];
  /** The last row of the previous page: its columns of `merge`, or of `order`. */
  readonly after: readonly string[] | null;
  /** That position within one scan, if it does not follow from `after`. @param lead expressions of the lead */
  readonly placeInScan?: (bind: Bind, lead: readonly string[]) => readonly string[];
}

/**
 * Returns the conditions of one scan. The position after the previous page replaces the bound on its side, beyond which
 * it lies, since an index scan begins at one bound, not at the tighter of two.
 * @param lead expressions of the lead's columns
 */
export function scanConditions(shape: ScanShape, lead: readonly string[], bind: Bind): readonly string[] {
  const { after, direction } = shape;
  const more = [...(shape.conditions?.(bind) ?? []), ...(after === null ? [] : beyondMerged(shape, after, bind))];
  const near = after === null ? null : beyondPlace(shape, lead, after, bind);
  const low = direction === 'ASC' && near !== null ? near : lowBound(shape, lead, bind);
  const high = direction === 'DESC' && near !== null ? near : highBound(shape, lead, bind);
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

function lowBound(shape: ScanShape, lead: readonly string[], bind: Bind): string {
  const [first] = shape.order;
  if (first === undefined) return comparison(shape, [], '>=', lead);
  return comparison(shape, [first], '>=', [...lead, shape.lowest?.(bind) ?? `${LEAST[first.type]}::${first.type}`]);
}

function highBound(shape: ScanShape, lead: readonly string[], bind: Bind): string {
  const [first] = shape.order;
  const highest = shape.highest?.(bind) ?? null;
  const below = shape.below?.(bind) ?? null;
  if (first !== undefined && highest !== null) return comparison(shape, [first], '<=', [...lead, highest]);
  if (first !== undefined && below !== null) return comparison(shape, [first], '<', [...lead, below]);
  return comparison(shape, [], '<=', lead);
}

/**
 * Returns the condition of the position in the scan: strictly after it if it is complete, otherwise from it on. Null if
 * no column of it is in the index.
 */
function beyondPlace(shape: ScanShape, lead: readonly string[], after: readonly string[], bind: Bind): string | null {
  const { order, direction } = shape;
  const merge = shape.merge ?? order;
  const strict = direction === 'ASC' ? '>' : '<';
  if (shape.placeInScan !== undefined)
    return comparison(shape, order, strict, [...lead, ...shape.placeInScan(bind, lead)]);
  const different = order.findIndex(({ column }, index) => column !== merge[index]?.column);
  const shared = different === -1 ? order : order.slice(0, different);
  if (shared.length === 0) return null;
  const place = shared.map((column, index) => bindValue(bind, column, after[index] ?? ''));
  return comparison(shape, shared, merge.length === order.length ? strict : `${strict}=`, [...lead, ...place]);
}

/** Returns the condition for rows after the page's position, if it has columns that the scan's order lacks. */
function beyondMerged(
  { merge, placeInScan, direction }: ScanShape,
  after: readonly string[],
  bind: Bind,
): readonly string[] {
  if (merge === undefined || placeInScan !== undefined) return [];
  const columns = merge.map(({ column }) => `row.${column}`);
  const place = merge.map((column, index) => bindValue(bind, column, after[index] ?? ''));
  return [rowsAfterOld(direction, columns, place)];
}

/** Compares the lead and some columns after it. */
function comparison(
  shape: ScanShape,
  columns: readonly IndexColumn[],
  operator: string,
  values: readonly string[],
): string {
  const names = [...shape.lead, ...columns].map((column) => `row.${column === 'network' ? column : column.column}`);
  return `(${names.join(', ')}) ${operator} (${values.join(', ')})`;
}

/** Binds a value that a column is compared with. */
export function bindValue(bind: Bind, { type }: Pick<IndexColumn, 'type'>, value: string): string {
  return `${bind(type === 'bytea' ? hexBytes(value) : value)}::${type}`;
}
