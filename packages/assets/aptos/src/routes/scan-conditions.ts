import { hexBytes, joinSql, rawSql, rowsAfter, type Sql, sql } from '@chainstead/db';
import type { PackedTexts } from '@chainstead/db/packed-rows';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface IndexColumn {
  readonly column: string;
  readonly type: 'bigint' | 'bytea' | 'integer' | 'numeric' | 'text';
}

/** Each value is a scan. `bytea` in hexadecimal. */
export interface ScanKey extends IndexColumn {
  readonly values: readonly string[];
}

interface ScanShape {
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
function scanConditions(shape: ScanShape, lead: readonly Sql[]): readonly Sql[] {
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

export interface PageScan extends ScanShape {
  readonly dataset: AptosDatasetName;
  readonly table: string;
  readonly select: Sql;
  readonly network: AptosNetwork;
  readonly ctes?: (network: Sql) => readonly Sql[];
  readonly offset: number;
  readonly limit: number;
}

export interface CoveredTexts extends PackedTexts {
  /** Newest range as `{first,last}`; null: none. */
  readonly covered: string | null;
}

/**
 * One ordered range scan per key value; several are merged. Bounds compare whole rows: for
 * equality the planner may expect few rows, and sort a whole wallet.
 */
export function pageStatement(scan: PageScan): Sql {
  const network = sql`${scan.network}`;
  const ctes = scan.ctes?.(network) ?? [];
  const keys = scan.lead.filter((column) => column !== 'network');
  const source = keys.every((key) => key.values.length === 1)
    ? // A subquery's value is unknown at planning time.
      rowsOf(
        scan,
        scan.lead.map((column) =>
          column === 'network' ? network : sql`(SELECT ${typedValue(column, column.values[0] ?? '')})`,
        ),
      )
    : mergedScans(scan, keys, network);
  const head = ctes.length === 0 ? rawSql('') : sql`WITH ${joinSql(ctes)} `;
  return sql`${head}SELECT ${scan.select}, ${coveredIn(network, scan.dataset)} AS covered FROM (
  SELECT row.* FROM ${source} LIMIT ${scan.limit + 1} OFFSET ${scan.offset}) AS page`;
}

function mergedScans(scan: PageScan, keys: readonly ScanKey[], network: Sql): Sql {
  const lists = keys.map(({ column, type, values }) => {
    const list = type === 'bytea' ? values.map(hexBytes) : values;
    return sql`unnest(${list}::${rawSql(type)}[]) AS ${rawSql(column)}_key(value)`;
  });
  const lead = scan.lead.map((column) => (column === 'network' ? network : rawSql(`${column.column}_key.value`)));
  return sql`${joinSql(lists, ' CROSS JOIN ')}
  CROSS JOIN LATERAL (SELECT * FROM ${rowsOf(scan, lead)} LIMIT ${scan.limit + 1 + scan.offset}) AS row
  ${orderBy(scan.merge ?? scan.order, scan.direction)}`;
}

function rowsOf(scan: PageScan, lead: readonly Sql[]): Sql {
  return sql`${rawSql(scan.table)} AS row WHERE ${joinSql(scanConditions(scan, lead), ' AND ')} ${orderBy([...scan.lead, ...scan.order], scan.direction)}`;
}

function orderBy(columns: readonly ('network' | IndexColumn)[], direction: 'ASC' | 'DESC'): Sql {
  const names = columns.map((column) => (column === 'network' ? column : column.column));
  return sql`ORDER BY ${joinSql(names.map((name) => rawSql(`row.${name} ${direction}`)))}`;
}

export function coveredIn(network: Sql, dataset: AptosDatasetName): Sql {
  return sql`(SELECT ARRAY[first_version, last_version]::text FROM aptos_ranges WHERE network = ${network} AND dataset = ${dataset}
  ORDER BY first_version DESC LIMIT 1)`;
}
