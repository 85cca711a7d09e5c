import { createRowWriter } from '@chainstead/db';
import { getTableColumns, is, SQL } from 'drizzle-orm';
import { getTableConfig, type Index, PgArray, type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core';

/** The table of a dataset's rows. All of it follows from the table in the dataset's `schema.ts`. */
export interface RowTable<Row = unknown> {
  readonly name: string;
  /** Every column, in the order of `copyLine`. */
  readonly columns: readonly string[];
  /** The primary key, a subset of `columns`. */
  readonly key: readonly string[];
  /** Secondary indexes that a declared bulk backfill drops and builds afterwards. */
  readonly bulkIndexes: readonly BulkIndex[];
  /** Whether it is partitioned by range of chain and height; the partitions are made as rows come (partitions/). */
  readonly isPartitioned: boolean;
  /** Of a partition, about. */
  readonly rowsPerPartition: number;
  /** The row in COPY's binary format (packages/db row-writer). */
  copyLine(row: Row): string;
}

/** An index that a bulk backfill may leave out and build later. */
export interface BulkIndex {
  readonly name: string;
  readonly table: string;
  readonly isPartitioned: boolean;
  /** What follows `CREATE INDEX [CONCURRENTLY] name ON table`: `USING btree (…)`. */
  readonly definition: string;
}

/** The indexes of so many rows, some 400 MB, fit into the memory of a small server. */
const ROWS_PER_PARTITION = 4_000_000;

/** What a drizzle table doesn't say. */
export interface TableOptions {
  /** Names of indexes of the table that bulk loads leave out. */
  readonly bulkIndexes?: readonly string[];
  /** @default false */
  readonly isPartitioned?: boolean;
  /** @default ROWS_PER_PARTITION */
  readonly rowsPerPartition?: number;
}

/**
 * Reads columns, key, indexes and the COPY format off a drizzle table, whose rows are `Readonly<typeof table.$inferSelect>`.
 * @throws TypeError for what the sync engine can't write: no `chain_id` or `block_number`, a type without a COPY format
 * @example defineTable(erc20TransfersTable, { bulkIndexes: ['erc20_transfers_by_token'] })
 */
export function defineTable<Table extends PgTable>(
  table: Table,
  { bulkIndexes = [], isPartitioned = false, rowsPerPartition = ROWS_PER_PARTITION }: TableOptions = {},
): RowTable<Readonly<Table['$inferSelect']>> {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table);
  const names = columns.map((column) => column.name);
  const key = primaryKeys.flatMap((primary) => primary.columns.map((column) => column.name));
  for (const required of ['chain_id', 'block_number'])
    if (!names.includes(required)) throw new TypeError(`Table ${name} has no column ${required}`);
  // Lines are sorted as text: that gives the key's index locality only where both begin alike.
  if (names[0] !== key[0]) throw new TypeError(`Table ${name} does not begin with the first column of its primary key`);
  return {
    name,
    columns: names,
    key,
    bulkIndexes: bulkIndexes.map((index) => ({ ...defineBulkIndex(name, index, indexes), table: name, isPartitioned })),
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
  if (config.unique || condition === null || config.with !== undefined || columns.length !== config.columns.length)
    throw new TypeError(`Index ${name} is not a plain one: bulk loads can't rebuild it`);
  const rows = condition === '' ? '' : ` WHERE ${condition}`;
  return { name, definition: `USING ${config.method ?? 'btree'} (${columns.join(', ')})${rows}` };
}

/** A column of an index, or an expression over columns that are not qualified; null for what has an order of its own. */
function indexedText(column: Index['config']['columns'][number]): string | null {
  if (is(column, SQL)) return textOf(column);
  if (!('name' in column && 'indexConfig' in column)) return null;
  const { order = 'asc', nulls = 'last', opClass } = column.indexConfig ?? {};
  return order === 'asc' && nulls === 'last' && opClass === undefined ? (column.name ?? null) : null;
}

/** Null for what holds values. */
function textOf(expression: SQL): string | null {
  const { sql, params } = new PgDialect().sqlToQuery(expression);
  return params.length === 0 ? sql : null;
}

/**
 * Compiled for the table: backfills spend a third of their decoding here, and going through a list of columns takes 1.4 times
 * as long.
 */
function compileCopyLine<Table extends PgTable>(table: Table): (row: Readonly<Table['$inferSelect']>) => string {
  const columns = Object.entries(getTableColumns(table));
  const fields = columns.map(([property, column]) => fieldSource(`row[${JSON.stringify(property)}]`, column));
  const compile = new Function(
    'writer',
    `return (row) => { writer.begin(${columns.length}); ${fields.join(' ')} return writer.end(); };`,
  );
  return compile(createRowWriter());
}

/** The statement that writes a column's value from the row. */
function fieldSource(value: string, column: PgColumn): string {
  const source = valueSource(value, column);
  return column.notNull ? `${source};` : `if (${value} === null) writer.nothing(); else ${source};`;
}

function valueSource(value: string, column: PgColumn): string {
  if (column instanceof PgArray) {
    const element = writtenAs(column.baseColumn);
    if (isArrayElement(element)) return `writer.array(${JSON.stringify(element)}, ${value})`;
  } else {
    const method = writtenAs(column);
    if (method !== null) return `writer.${method}(${value})`;
  }
  throw new TypeError(`Column ${column.name} is of type ${column.getSQLType()}, which rows can't be copied to`);
}

type WrittenAs = 'boolean' | 'smallint' | 'integer' | 'bigint' | 'numeric' | 'bytea' | 'text' | 'timestamp';

/** The method of a writer for values of the column's type; null where there is none. */
function writtenAs(column: PgColumn): WrittenAs | null {
  const type = column.getSQLType();
  if (/^numeric(?:\(\d+, ?\d+\))?$/.test(type)) return 'numeric';
  if (type === 'timestamp with time zone') return 'timestamp';
  return WRITTEN_BY_NAME.find((name) => name === type) ?? null;
}

const WRITTEN_BY_NAME = ['boolean', 'smallint', 'integer', 'bigint', 'bytea', 'text'] as const satisfies WrittenAs[];
const ARRAY_ELEMENTS: readonly (WrittenAs | null)[] = ['smallint', 'integer', 'bigint', 'numeric'];

function isArrayElement(name: WrittenAs | null): boolean {
  return ARRAY_ELEMENTS.includes(name);
}
