import { hexBytes, joinSql, rawSql, rowsAfter, type Sql, sql } from '@chainstead/db';

export interface IndexColumn {
  readonly column: string;
  readonly type: 'bigint' | 'bytea' | 'integer' | 'numeric' | 'text';
}

/** Each value is a scan. `bytea` in hexadecimal. */
export interface ScanKey extends IndexColumn {
  readonly values: readonly string[];
}

export interface ScanShape {
  readonly lead: readonly ('network' | ScanKey)[];
  /** Columns after the lead; none: the lead is unique. */
  readonly order: readonly IndexColumn[];
  /** Indexes ascend; newest or largest first reads backwards. */
  readonly direction: 'ASC' | 'DESC';
  readonly merge?: readonly IndexColumn[];
  readonly lowest?: Sql | null;
  readonly highest?: Sql | null;
  readonly below?: Sql | null;
  readonly conditions?: readonly Sql[];
  /** `merge`, or `order`, of the previous page's last row. */
  readonly after: readonly string[] | null;
  /** If it does not follow from `after`. @param first the lead's first value */
  readonly placeInScan?: (first: Sql) => readonly Sql[];
}

/** The position replaces its bound: a scan begins at one bound, not at the tighter one. */
export function scanConditions(shape: ScanShape, lead: readonly Sql[]): readonly Sql[] {
  const { after, direction, merge } = shape;
  const more = [...(shape.conditions ?? [])];
  // The position may have columns that the order of one scan lacks.
  if (after !== null && merge !== undefined && shape.placeInScan === undefined) {
    const values = merge.map((column, index) => typedValue(column, after[index] ?? ''));
    const columns = merge.map(({ column }) => `row.${column}`);
    more.push(rowsAfter(direction, columns, values));
  }
  const near = after === null ? null : beyondPlace(shape, lead, after);
  const low = direction === 'ASC' && near !== null ? near : lowBound(shape, lead);
  const high = direction === 'DESC' && near !== null ? near : highBound(shape, lead);
  return [low, high, ...more];
}

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
  return comparison(shape, [first], '>=', [
    ...lead,
    shape.lowest ?? rawSql(`${LEAST[first.type]}::${first.type}`),
  ]);
}

function highBound(shape: ScanShape, lead: readonly Sql[]): Sql {
  const [first] = shape.order;
  const { highest = null, below = null } = shape;
  if (first !== undefined && highest !== null) return comparison(shape, [first], '<=', [...lead, highest]);
  if (first !== undefined && below !== null) return comparison(shape, [first], '<', [...lead, below]);
  return comparison(shape, [], '<=', lead);
}

/** After a complete position, else from it on. Null: not in the index. */
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

function comparison(
  shape: ScanShape,
  columns: readonly IndexColumn[],
  operator: string,
  values: readonly Sql[],
): Sql {
  const names = [...shape.lead, ...columns].map(
    (column) => `row.${column === 'network' ? column : column.column}`,
  );
  return sql`(${rawSql(names.join(', '))}) ${rawSql(operator)} (${joinSql(values)})`;
}

export function typedValue({ type }: Pick<IndexColumn, 'type'>, value: string): Sql {
  return sql`${type === 'bytea' ? hexBytes(value) : value}::${rawSql(type)}`;
}
