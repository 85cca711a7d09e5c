import { storageOf } from '@chainstead/db/table-storage';
import { STORAGE_BY_WRITES } from '@chainstead/db/table-writes';
import { is, SQL } from 'drizzle-orm';
import { getTableConfig, type Index, type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import type { DeclaredTable } from './schema-tables.ts';

const BREAKPOINT = '--> statement-breakpoint';
const dialect = new PgDialect();

/**
 * Returns the statements that create a table with its key, indexes, partitioning and storage parameters.
 * @throws TypeError for constraints other than the primary key, and for unique indexes: no table has one
 */
export function tableStatements(table: PgTable): readonly string[] {
  const { name, columns, primaryKeys, indexes, uniqueConstraints, foreignKeys, checks } = getTableConfig(table);
  if (uniqueConstraints.length + foreignKeys.length + checks.length > 0)
    throw new TypeError(`Table ${name} has a constraint that is not its primary key`);
  const key = primaryKeys.flatMap((primary) => primary.columns.map((column) => column.name));
  const lines = columns.map(columnLine);
  if (key.length > 0) lines.push(`CONSTRAINT "${name}_pkey" PRIMARY KEY(${key.map(quoted).join(',')})`);
  const storage = storageOf(table);
  const partitioning = storage?.isPartitioned === true ? ' PARTITION BY RANGE ("chain_id", "block_number")' : '';
  return [
    `CREATE TABLE "${name}" (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${partitioning};`,
    ...indexes.map((index) => indexStatement(name, index)),
    ...storageStatements(name, storage),
  ];
}

/** Joined as migrations are; each statement ends with a breakpoint. */
export function joinStatements(statements: readonly string[]): string {
  return statements.map((statement) => `${statement.replace(/;?$/, ';')}${BREAKPOINT}\n`).join('');
}

function columnLine(column: PgColumn): string {
  const { generated } = column;
  return [
    quoted(column.name),
    column.getSQLType().replaceAll(', ', ','),
    ...(column.primary ? ['PRIMARY KEY'] : []),
    ...(column.hasDefault && generated === undefined ? [`DEFAULT ${defaultText(column)}`] : []),
    ...(generated === undefined ? [] : [`GENERATED ALWAYS AS (${expressionText(generated.as)}) STORED`]),
    ...(column.notNull ? ['NOT NULL'] : []),
  ].join(' ');
}

function defaultText({ name, default: value }: PgColumn): string {
  if (is(value, SQL)) return expressionText(value);
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(`The default of column ${name} has no text in SQL`);
}

function indexStatement(table: string, { config }: Index): string {
  if (config.unique)
    throw new TypeError(`Index ${config.name} of ${table} is unique: a key on Citus is the primary key`);
  const columns = config.columns.map(indexedText);
  const parameters = Object.entries(config.with ?? {}).map(([name, value]) => `${name}=${value}`);
  const options = parameters.length === 0 ? '' : ` WITH (${parameters.join(',')})`;
  const condition = config.where === undefined ? '' : ` WHERE ${expressionText(config.where)}`;
  return `CREATE INDEX "${config.name}" ON "${table}" USING ${config.method ?? 'btree'} (${columns.join(',')})${options}${condition};`;
}

function indexedText(column: Index['config']['columns'][number]): string {
  if (is(column, SQL)) return expressionText(column);
  if (!('name' in column && 'indexConfig' in column)) throw new TypeError('An index has a column without a name');
  const { name = '', indexConfig } = column;
  return indexConfig?.opClass === undefined ? quoted(name) : `${quoted(name)} ${indexConfig.opClass}`;
}

function expressionText(expression: unknown): string {
  const value: unknown = typeof expression === 'function' ? expression() : expression;
  if (!is(value, SQL)) throw new TypeError('An expression of a table is not of the sql tag');
  const { sql, params } = dialect.sqlToQuery(value);
  if (params.length > 0) throw new TypeError(`The expression ${sql} has parameters`);
  return sql;
}

/** None where Postgres' defaults suit, and for a partitioned table, whose partitions have the parameters. */
function storageStatements(name: string, storage: DeclaredTable['storage'] | undefined): readonly string[] {
  if (storage === undefined || storage.isPartitioned === true) return [];
  const parameters = Object.entries(STORAGE_BY_WRITES[storage.writes]).map(([key, value]) => `${key} = ${value}`);
  return parameters.length === 0 ? [] : [`ALTER TABLE "${name}" SET (${parameters.join(', ')});`];
}

function quoted(name: string): string {
  return `"${name}"`;
}
