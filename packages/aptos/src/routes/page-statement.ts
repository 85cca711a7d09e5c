import { type Bind, hexBytes, type Statement } from '@chainstead/db';
import type { PackedTexts } from '@chainstead/db/packed-rows';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';
import { bindValue, type IndexColumn, type ScanKey, type ScanShape, scanConditions } from './scan-conditions.ts';

/** A page as range scans of one index. */
export interface PageScan extends ScanShape {
  readonly dataset: AptosDatasetName;
  readonly table: string;
  /** Selected columns in SQL: those of `PackedTexts`. */
  readonly select: string;
  readonly network: AptosNetwork;
  /** CTEs used by the bounds. */
  readonly ctes?: (bind: Bind) => readonly string[];
  readonly offset: number;
  /** One more row is read to detect a next page. */
  readonly limit: number;
}

/** The only row of a page's statement. */
export interface CoveredTexts extends PackedTexts {
  /** The newest indexed range of versions, as `{first,last}`; null if there is none. */
  readonly covered: string | null;
}

/**
 * Returns the statement of a page. With one value per key it is one range scan, which is ordered and stops early; with
 * several, the first rows of each scan are merged. Its only row also contains `covered`, the newest indexed range of
 * versions.
 *
 * The planner must never prefer to read and sort all rows of a wallet, with fresh, old or missing statistics. So the
 * bounds of a scan are comparisons of whole rows, for which it expects many rows; for equality it would expect few.
 */
export function pageStatement(scan: PageScan): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const network = bind(scan.network);
  const ctes = scan.ctes?.(bind) ?? [];
  const keys = scan.lead.filter((column) => column !== 'network');
  const source = keys.every((key) => key.values.length === 1)
    ? oneScan(scan, network, bind)
    : mergedScans(scan, keys, network, bind);
  const head = ctes.length === 0 ? '' : `WITH ${ctes.join(', ')} `;
  return {
    text: `${head}SELECT ${scan.select}, ${coveredIn(network, scan.dataset)} AS covered FROM (
  SELECT row.* FROM ${source} LIMIT ${bind(scan.limit + 1)} OFFSET ${bind(scan.offset)}) AS page`,
    values,
  };
}

function oneScan(scan: PageScan, network: string, bind: Bind): string {
  // A subquery's value is unknown at planning time.
  const lead = scan.lead.map((column) =>
    column === 'network' ? network : `(SELECT ${bindValue(bind, column, column.values[0] ?? '')})`,
  );
  return rowsOf(scan, lead, bind);
}

function mergedScans(scan: PageScan, keys: readonly ScanKey[], network: string, bind: Bind): string {
  const lists = keys.map(({ column, type, values }) => {
    const list = bind(type === 'bytea' ? values.map(hexBytes) : values);
    return `unnest(${list}::${type}[]) AS ${column}_key(value)`;
  });
  const lead = scan.lead.map((column) => (column === 'network' ? network : `${column.column}_key.value`));
  const rows = rowsOf(scan, lead, bind);
  return `${lists.join(' CROSS JOIN ')}
  CROSS JOIN LATERAL (SELECT * FROM ${rows} LIMIT ${bind(scan.limit + 1 + scan.offset)}) AS row
  ${orderBy(scan.merge ?? scan.order, scan.direction)}`;
}

/**
 * Returns the rows of one scan in index order. Columns are qualified: a bare name would be that of an output column, a
 * text.
 */
function rowsOf(scan: PageScan, lead: readonly string[], bind: Bind): string {
  const rows = `${scan.table} AS row WHERE ${scanConditions(scan, lead, bind).join(' AND ')}`;
  return `${rows} ${orderBy([...scan.lead, ...scan.order], scan.direction)}`;
}

function orderBy(columns: readonly ('network' | IndexColumn)[], direction: 'ASC' | 'DESC'): string {
  const names = columns.map((column) => (column === 'network' ? column : column.column));
  return `ORDER BY ${names.map((name) => `row.${name} ${direction}`).join(', ')}`;
}

/** Returns the newest indexed range of versions as text; null if there is none. */
export function coveredIn(network: string, dataset: AptosDatasetName): string {
  return `(SELECT ARRAY[first_version, last_version]::text FROM aptos_ranges WHERE network = ${network} AND dataset = '${dataset}'
  ORDER BY first_version DESC LIMIT 1)`;
}
