import { hexBytes, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import type { PackedTexts } from '@chainstead/db/packed-rows';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';
import { type IndexColumn, type ScanKey, type ScanShape, scanConditions, typedValue } from './scan-conditions.ts';

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
