import { joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import { IS_GIVING_SIDE } from '@chainstead/db/column-types';
import type { Dataset, RowTable } from '@chainstead/sync/datasets';
import { UnknownExportTableError } from '../errors.ts';

export interface ExportTable {
  /** `erc20_transfers`, `contracts.vault_deposit`. */
  readonly name: string;
  readonly dataset: string;
  readonly columns: readonly ExportColumn[];
  /** From `FROM` on, without the range. */
  readonly source: Sql;
  /** Total order: equal rows make equal files. */
  readonly order: readonly Sql[];
}

export function findExportTable(datasets: readonly Dataset[], name: string): ExportTable {
  const tables = datasets.flatMap(tablesOf);
  const names = tables.map((table) => table.name);
  const table = tables[names.indexOf(name)];
  if (table === undefined) throw new UnknownExportTableError(name, names);
  return table;
}

const SIDES = 'erc20_transfer_sides';

function tablesOf({ name: dataset, table }: Dataset): readonly ExportTable[] {
  const stored = withTime({
    name: table.name,
    dataset,
    columns: table.columns.map((column) => columnOf(table, column)),
    source: sql`FROM ${sqlName(table)} WHERE true`,
    order: orderOf(table),
  });
  return table.name === SIDES ? [transfersOf(dataset, table), stored] : [stored];
}

function transfersOf(dataset: string, table: RowTable): ExportTable {
  const names = new Map([
    ['account', 'from_address'],
    ['counterparty', 'to_address'],
  ]);
  const columns = table.columns
    .filter((column) => column !== 'account_key' && column !== 'direction')
    .map((column) => columnOf(table, column, names.get(column)));
  return withTime({
    name: 'erc20_transfers',
    dataset,
    columns,
    source: sql`FROM ${sqlName(table)} WHERE ${rawSql(IS_GIVING_SIDE)}`,
    order: orderOf(table),
  });
}

const TIMES = ['block_time', 'block_timestamp'];

function withTime(table: ExportTable): ExportTable {
  return table.columns.some(({ name }) => TIMES.includes(name))
    ? table
    : { ...table, columns: [...table.columns, BLOCK_TIME] };
}

function columnOf({ name: table, types }: RowTable, column: string, name?: string): ExportColumn {
  const type = types.get(column);
  if (type === undefined) throw new TypeError(`Table ${table} has no type for ${column}`);
  return exportColumn(column, type, name);
}

const PLACE = ['block_number', 'transaction_index', 'log_index'];

/** Ascending blocks keep a file small and let readers skip parts. */
function orderOf({ key }: RowTable): readonly Sql[] {
  const rest = key.filter((column) => column !== 'chain_id' && !PLACE.includes(column));
  return [...PLACE.filter((column) => column === 'block_number' || key.includes(column)), ...rest].map(quoted);
}

function sqlName({ name }: RowTable): Sql {
  return joinSql(name.split('.').map(quoted), '.');
}

type ColumnType = NonNullable<ReturnType<RowTable['types']['get']>>;

export type ColumnKind = 'int32' | 'int64' | 'double' | 'boolean' | 'bytes' | 'text' | 'timestamp';

export interface ExportColumn {
  readonly name: string;
  /** In the binary format of `kind`. Null: the time of the row's block. */
  readonly expression: Sql | null;
  readonly postgres: string;
  readonly kind: ColumnKind;
  readonly isNullable: boolean;
}

const BLOCK_TIME: ExportColumn = {
  name: 'block_time',
  expression: null,
  postgres: 'timestamp with time zone',
  kind: 'timestamp',
  isNullable: true,
};

function exportColumn(column: string, { type, isRequired }: ColumnType, name: string = column): ExportColumn {
  const { kind, expression } = conversionOf(type, quoted(column));
  return { name, expression, postgres: type, kind, isNullable: !isRequired };
}

function quoted(name: string): Sql {
  return rawSql(`"${name.replaceAll('"', '""')}"`);
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  integer: 'int32',
  bigint: 'int64',
  'double precision': 'double',
  boolean: 'boolean',
  bytea: 'bytes',
  text: 'text',
  'timestamp with time zone': 'timestamp',
};

function conversionOf(type: string, column: Sql): { readonly kind: ColumnKind; readonly expression: Sql } {
  const kind = KINDS[type];
  if (kind !== undefined) return { kind, expression: column };
  if (type === 'smallint') return { kind: 'int32', expression: sql`${column}::integer` };
  if (type === 'real') return { kind: 'double', expression: sql`${column}::double precision` };
  // JSON texts keep numbers of 78 digits exact.
  if (type.endsWith('[]')) return { kind: 'text', expression: sql`array_to_json(${column}::text[])::text` };
  // Parquet's decimals end at 38 digits.
  return { kind: 'text', expression: sql`${column}::text` };
}
