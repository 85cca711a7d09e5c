import { type Bind, hexBytes } from '@chainstead/db';
export interface IndexColumn {
  readonly column: string;
  readonly type: 'bigint' | 'bytea' | 'integer' | 'numeric' | 'text';
}

/** A leading column of an index: one of some values, each of which is a scan. `bytea` as hexadecimal digits. */
export interface ScanKey extends IndexColumn {
  readonly values: readonly string[];
}

/** Where a scan of an index begins and ends. */
export interface ScanShape {
  /** The index's columns before the order. */
  readonly lead: readonly ('network' | ScanKey)[];
  /** The index's columns after those; none where the lead is unique. */
  readonly order: readonly IndexColumn[];
  /** The indexes are ascending; what is newest or largest first reads them backwards. */
  readonly direction: 'ASC' | 'DESC';
  /** The order of a page of several scans, where it is not that of one. */
  readonly merge?: readonly IndexColumn[];
  /** Bounds of the first column of the order, as SQL. */
  readonly lowest?: (bind: Bind) => string | null;
  readonly highest?: (bind: Bind) => string | null;
  /** As `highest`, but exclusive. */
  readonly below?: (bind: Bind) => string | null;
  /** What else a row must be. */
  readonly conditions?: (bind: Bind) => readonly string[];
  /** The place of the page before: the columns of `merge`, or of `order`, in its last row. */
  readonly after: readonly string[] | null;
  /** That place within one scan, where it doesn't follow from `after`. @param lead expressions of the lead */
  readonly placeInScan?: (bind: Bind, lead: readonly string[]) => readonly string[];
}

/**
 * Conditions of one scan. The place of the page before replaces the bound on its side, beyond which it lies: an index scan begins at
 * one bound, not at the tighter of two. @param lead expressions of the lead's columns
 */
export function scanConditions(shape: ScanShape, lead: readonly string[], bind: Bind): readonly string[] {
  const { after, direction } = shape;
  const more = [...(shape.conditions?.(bind) ?? []), ...(after === null ? [] : beyondMerged(shape, after, bind))];
  const near = after === null ? null : beyondPlace(shape, lead, after, bind);
  const low = direction === 'ASC' && near !== null ? near : lowBound(shape, lead, bind);
  const high = direction === 'DESC' && near !== null ? near : highBound(shape, lead, bind);
  return [low, high, ...more];
}

/** Below every value that the tables hold. */
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

/** The place in the scan: strictly beyond it where it is a whole one, else from it on. Null where nothing of it is in the index. */
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

/** Beyond the place in the page, where that has columns which the scan's order has not. */
function beyondMerged(
  { merge, placeInScan, direction }: ScanShape,
  after: readonly string[],
  bind: Bind,
): readonly string[] {
  if (merge === undefined || placeInScan !== undefined) return [];
  const columns = merge.map(({ column }) => `row.${column}`);
  const place = merge.map((column, index) => bindValue(bind, column, after[index] ?? ''));
  return [`(${columns.join(', ')}) ${direction === 'ASC' ? '>' : '<'} (${place.join(', ')})`];
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

/** A value that a column is compared with. */
export function bindValue(bind: Bind, { type }: Pick<IndexColumn, 'type'>, value: string): string {
  return `${bind(type === 'bytea' ? hexBytes(value) : value)}::${type}`;
}
