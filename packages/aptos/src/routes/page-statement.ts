import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';

/** Adds a value to a statement and gives its placeholder. */
export type Bind = (value: unknown) => string;

/** A column that an index has before the order: equal to one of some values, each of which is a scan. */
export interface ScanKey {
  readonly column: string;
  readonly type: 'bytea' | 'bigint';
  /** `bytea` as hexadecimal digits, with or without `0x`. */
  readonly values: readonly string[];
}

export interface OrderColumn {
  readonly column: string;
  readonly type: 'bigint' | 'bytea' | 'integer' | 'numeric' | 'text';
}

/** A page as range scans of one index. */
export interface PageScan {
  readonly dataset: AptosDatasetName;
  readonly table: string;
  /** What is shown of a row, in SQL. */
  readonly select: string;
  readonly network: AptosNetwork;
  readonly keys: readonly ScanKey[];
  readonly order: readonly OrderColumn[];
  /** As the index has it: one that was made descending has its nulls last. */
  readonly direction: 'ASC' | 'DESC' | 'DESC NULLS LAST';
  /** What else a row must be. */
  readonly conditions?: (bind: Bind) => readonly string[];
  /** Rows beyond the page before, where a comparison with its last row doesn't say it. @param keys expressions of the keys */
  readonly beyond?: (bind: Bind, keys: readonly string[]) => string;
  /** CTEs that conditions read. */
  readonly ctes?: (bind: Bind) => readonly string[];
  /** The order columns of the last row of the page before. */
  readonly after: readonly string[] | null;
  readonly offset: number;
  /** One more is read to see whether a page follows. */
  readonly limit: number;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * The statement behind a page. With one value for each key it is one range scan, which comes in order and stops; with several,
 * the first rows of each scan, merged. Beside every row stands `covered`, the newest range of versions that is indexed.
 */
export function pageStatement(scan: PageScan): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const network = bind(scan.network);
  const single = scan.keys.every((key) => key.values.length === 1);
  const keys = scan.keys.map((key, index) => (single ? bindKey(bind, key) : `key${index}.value`));
  const ctes = scan.ctes?.(bind) ?? [];
  const conditions = [
    `network = ${network}`,
    ...scan.keys.map(({ column }, index) => `${column} = ${keys[index]}`),
    ...(scan.conditions?.(bind) ?? []),
    ...(scan.beyond === undefined ? beyond(scan, bind) : [scan.beyond(bind, keys)]),
  ];
  const rows = `${scan.table} WHERE ${conditions.join(' AND ')}`;
  const order = scan.order.map(({ column }) => `${column} ${scan.direction}`).join(', ');
  const page = `ORDER BY ${order} LIMIT ${bind(scan.limit + 1)} OFFSET ${bind(scan.offset)}`;
  const source = single ? `${rows} ${page}` : `${merged(scan, rows, order, bind)} ${page}`;
  const head = ctes.length === 0 ? '' : `WITH ${ctes.join(', ')} `;
  return { text: `${head}SELECT ${scan.select}, ${covered(network, scan.dataset)} AS covered FROM ${source}`, values };
}

function merged(scan: PageScan, rows: string, order: string, bind: Bind): string {
  const lists = scan.keys.map(({ type, values }, index) => {
    const list = bind(type === 'bytea' ? values.map(bytes) : values);
    return `unnest(${list}::${type}[]) AS key${index}(value)`;
  });
  const first = bind(scan.limit + 1 + scan.offset);
  return `${lists.join(' CROSS JOIN ')} CROSS JOIN LATERAL (SELECT * FROM ${rows} ORDER BY ${order} LIMIT ${first}) AS scanned`;
}

/** Strictly after the last row of the page before, in the direction of the scan. */
function beyond({ after, order, direction }: PageScan, bind: Bind): readonly string[] {
  if (after === null) return [];
  const place = order.map(({ type }, index) => bindPlace(bind, type, after[index] ?? ''));
  return [`(${order.map(({ column }) => column).join(', ')}) ${direction === 'ASC' ? '>' : '<'} (${place.join(', ')})`];
}

function bindKey(bind: Bind, { type, values }: ScanKey): string {
  return bindPlace(bind, type, values[0] ?? '');
}

/** A value that a statement compares a column with. */
export function bindPlace(bind: Bind, type: OrderColumn['type'], value: string): string {
  return `${bind(type === 'bytea' ? bytes(value) : value)}::${type}`;
}

/** Hexadecimal digits as `bytea` columns take them. */
export function bytes(hex: string): Buffer {
  return Buffer.from(hex.startsWith('0x') ? hex.slice(2) : hex, 'hex');
}

/** An uncorrelated subquery: read once, however many rows there are. */
function covered(network: string, dataset: AptosDatasetName): string {
  return `(SELECT ARRAY[first_version, last_version] FROM aptos_ranges WHERE network = ${network} AND dataset = '${dataset}'
  ORDER BY first_version DESC LIMIT 1)`;
}

/** What of a dataset is indexed, for a page without rows. */
export function coverageStatement(network: AptosNetwork, dataset: AptosDatasetName): Statement {
  return { text: `SELECT ${covered('$1', dataset)} AS covered`, values: [network] };
}
