import { createRowWriter } from '@chainstead/db';
import { storageOf } from '@chainstead/db/table-storage';
import { getTableColumns, is, SQL } from 'drizzle-orm';
import { getTableConfig, type Index, PgArray, type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core';

export interface RowTable<Row = unknown> {
  readonly name: string;
  readonly columns: readonly string[];
  readonly types: ReadonlyMap<string, ColumnType>;
  readonly key: readonly string[];
  /** The primary key is no part of them. @default unknown */
  readonly indexes?: readonly TableIndex[];
  /** Dropped and rebuilt by a bulk backfill. */
  readonly bulkIndexes: readonly BulkIndex[];
  /** By chain and block range. Partitions are created as rows arrive. */
  readonly isPartitioned: boolean;
  /** Approximate. */
  readonly rowsPerPartition: number;
  /** In COPY's binary format. */
  copyLine(row: Row): string;
}

export interface ColumnType {
  /** `numeric(78,0)`, `timestamp with time zone`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
}

interface TableIndex {
  /** Without expressions. */
  readonly columns: readonly string[];
  /** Only some of the rows. */
  readonly isPartial: boolean;
}

export interface BulkIndex {
  readonly name: string;
  readonly table: string;
  readonly isPartitioned: boolean;
  /** After `CREATE INDEX [CONCURRENTLY] name ON table`: `USING btree (…)`. */
  readonly definition: string;
}

/** Indexes of this many rows, about 400 MB, fit into the memory of a small server. */
const ROWS_PER_PARTITION = 4_000_000;

interface RowTableOptions {
  readonly bulkIndexes?: readonly string[];
  readonly rowsPerPartition?: number;
}

/**
 * @throws TypeError without `chain_id` or `block_number`, or for a type without a COPY format
 * @example defineTable(erc20TransfersTable, { bulkIndexes: ['erc20_transfer_sides_by_token'] })
 */
export function defineTable<Table extends PgTable>(
  table: Table,
  { bulkIndexes = [], rowsPerPartition = ROWS_PER_PARTITION }: RowTableOptions = {},
): RowTable<Readonly<Table['$inferSelect']>> {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table);
  const isPartitioned = storageOf(table)?.isPartitioned ?? false;
  const names = columns.map((column) => column.name);
  const key = primaryKeys.flatMap((primary) => primary.columns.map((column) => column.name));
  for (const required of ['chain_id', 'block_number'])
    if (!names.includes(required)) throw new TypeError(`Table ${name} has no column ${required}`);
  // Sorted lines match the key's index order only if both start with the same column.
  if (names[0] !== key[0])
    throw new TypeError(`Table ${name} does not begin with the first column of its primary key`);
  return {
    name,
    columns: names,
    types: new Map(
      columns.map((column) => {
        const type = column.getSQLType().replaceAll(/,\s+/g, ',');
        return [column.name, { type, isRequired: column.notNull, hasDefault: column.hasDefault }];
      }),
    ),
    key,
    indexes: indexes.map(({ config }) => ({
      columns: config.columns.flatMap((column) =>
        'name' in column && column.name !== undefined ? [column.name] : [],
      ),
      isPartial: config.where !== undefined,
    })),
    bulkIndexes: bulkIndexes.map((index) => ({
      ...defineBulkIndex(name, index, indexes),
      table: name,
      isPartitioned,
    })),
    isPartitioned,
    rowsPerPartition,
    copyLine: compileCopyLine(table),
  };
}

function defineBulkIndex(
  table: string,
  name: string,
  indexes: readonly Index[],
): Pick<BulkIndex, 'name' | 'definition'> {
  const config = indexes.find((index) => index.config.name === name)?.config;
  if (config === undefined) throw new TypeError(`Table ${table} has no index ${name}`);
  const columns = config.columns.flatMap((column) => indexedText(column) ?? []);
  const condition = config.where === undefined ? '' : textOf(config.where);
  if (
    config.unique ||
    condition === null ||
    config.with !== undefined ||
    columns.length !== config.columns.length
  )
    throw new TypeError(`Index ${name} is not a plain one: bulk loads can't rebuild it`);
  const rows = condition === '' ? '' : ` WHERE ${condition}`;
  return { name, definition: `USING ${config.method ?? 'btree'} (${columns.join(', ')})${rows}` };
}

/** Null for an index with a custom order. */
function indexedText(column: Index['config']['columns'][number]): string | null {
  if (is(column, SQL)) return textOf(column);
  if (!('name' in column && 'indexConfig' in column)) return null;
  const { order = 'asc', nulls = 'last', opClass } = column.indexConfig ?? {};
  return order === 'asc' && nulls === 'last' && opClass === undefined ? (column.name ?? null) : null;
}

/** Null if the expression has parameters. */
function textOf(expression: SQL): string | null {
  const { sql, params } = new PgDialect().sqlToQuery(expression);
  return params.length === 0 ? sql : null;
}

/** A loop over columns takes 1.4 times as long, in a third of a backfill's decoding. */
function compileCopyLine<Table extends PgTable>(table: Table): (row: Readonly<Table['$inferSelect']>) => string {
  const columns = Object.entries(getTableColumns(table));
  const fields = columns.map(([property, column]) => fieldSource(`row[${JSON.stringify(property)}]`, column));
  const compile = new Function(
    'writer',
    `return (row) => { writer.begin(${columns.length}); ${fields.join(' ')} return writer.end(); };`,
  );
  return compile(createRowWriter());
}

function fieldSource(value: string, column: PgColumn): string {
  const source = valueSource(value, column);
  return column.notNull ? `${source};` : `if (${value} === null) writer.nothing(); else ${source};`;
}

function valueSource(value: string, column: PgColumn): string {
  if (column instanceof PgArray) {
    const element = writtenAs(column.baseColumn);
    if (ARRAY_ELEMENTS.includes(element)) return `writer.array(${JSON.stringify(element)}, ${value})`;
  } else {
    const method = writtenAs(column);
    if (method !== null) return `writer.${method}(${value})`;
  }
  throw new TypeError(`Column ${column.name} is of type ${column.getSQLType()}, which rows can't be copied to`);
}

type WrittenAs = 'boolean' | 'smallint' | 'integer' | 'bigint' | 'numeric' | 'bytea' | 'text' | 'timestamp';

function writtenAs(column: PgColumn): WrittenAs | null {
  const type = column.getSQLType();
  if (/^numeric(?:\(\d+, ?\d+\))?$/.test(type)) return 'numeric';
  if (type === 'timestamp with time zone') return 'timestamp';
  return WRITTEN_BY_NAME.find((name) => name === type) ?? null;
}

const WRITTEN_BY_NAME = [
  'boolean',
  'smallint',
  'integer',
  'bigint',
  'bytea',
  'text',
] as const satisfies WrittenAs[];
const ARRAY_ELEMENTS: readonly (WrittenAs | null)[] = ['smallint', 'integer', 'bigint', 'numeric'];

/** ISO 8601 UTC, whole seconds. @param seconds Unix time */
export function timestampText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
