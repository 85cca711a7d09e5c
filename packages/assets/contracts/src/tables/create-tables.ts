import { rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { findDetached } from '@chainstead/sync';
import { bytesColumns, type EventTable, PLACE_COLUMNS, UNDECODED } from './event-table.ts';
import { EVENT_KEY } from './row-table.ts';

export async function createEventTables(
  transaction: Transaction,
  tables: readonly EventTable[],
  indexed: readonly string[],
): Promise<void> {
  await transaction.query(sql`CREATE SCHEMA IF NOT EXISTS contracts`);
  const known = await knownIndexes(transaction);
  for (const table of tables)
    for (const statement of [...statementsOf(table), ...indexesOf(table, indexed, known)])
      await transaction.query(statement);
  await grantReads(transaction, tables);
}

/** CREATE INDEX locks even if the index exists, and writers may wait for this transaction. */
async function knownIndexes(transaction: Transaction): Promise<ReadonlySet<string>> {
  const rows = await transaction.query<{ name: string }>(
    sql`SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace('contracts') AND relkind = 'I'`,
  );
  return new Set(rows.map(({ name }) => name));
}

export async function dropEventTables(transaction: Transaction, tables: readonly EventTable[]): Promise<void> {
  const names = tables.map(({ name }) => name);
  // Partitions that an interrupted retention left would keep their names.
  for (const { name, isPending } of await findDetached(transaction, names))
    if (!isPending) await transaction.query(sql`DROP TABLE ${rawSql(name)}`);
  for (const { name, view } of tables) {
    await transaction.query(sql`DROP VIEW IF EXISTS ${rawSql(view)}`);
    await transaction.query(sql`DROP TABLE IF EXISTS ${rawSql(name)}`);
  }
}

/** Readers may use tables too: views have no index for texts. Grants lock: only missing ones. */
async function grantReads(transaction: Transaction, tables: readonly EventTable[]): Promise<void> {
  const missing = await transaction.query<{ object: string }>(
    sql`SELECT 'SCHEMA contracts' AS object FROM pg_roles WHERE rolname = ${READER_ROLE} AND NOT has_schema_privilege(rolname, 'contracts', 'USAGE')
     UNION ALL
     SELECT 'TABLE ' || name FROM pg_roles CROSS JOIN unnest(${tables.map(({ name }) => name)}::text[]) AS name
     WHERE rolname = ${READER_ROLE} AND NOT has_table_privilege(rolname, name, 'SELECT')`,
  );
  for (const { object } of missing)
    await transaction.query(
      sql`GRANT ${rawSql(object.startsWith('SCHEMA') ? 'USAGE' : 'SELECT')} ON ${rawSql(object)} TO ${rawSql(READER_ROLE)}`,
    );
}

const READER_ROLE = 'chainstead_reader';

function statementsOf(table: EventTable): readonly Sql[] {
  const { parameters, abi } = table;
  const [name, view, signature] = [rawSql(table.name), rawSql(table.view), rawSql(abi.signature)];
  const columns = [
    ...Object.entries(PLACE_COLUMNS).map(([column, type]) => `${column} ${type} NOT NULL`),
    ...parameters.map((column) => `${column.name} ${column.type}`),
    `${UNDECODED} bytea`,
    `CONSTRAINT ${indexName(table, KEY)} PRIMARY KEY (${EVENT_KEY.join(', ')})`,
  ];
  const shown = [
    ...placeView(table),
    ...parameters.map(({ name: column, type }) => shownColumn(column, type)),
    ...[...bytesColumns(table)].map(([column, shownName]) => `${column} AS ${shownName}`),
  ];
  return [
    sql`CREATE TABLE IF NOT EXISTS ${name} (${rawSql(columns.join(', '))}) PARTITION BY RANGE (chain_id, block_number)`,
    sql`COMMENT ON TABLE ${name} IS '${signature}'`,
    sql`CREATE OR REPLACE VIEW ${view} AS SELECT ${rawSql(shown.join(', '))} FROM ${name} WHERE ${rawSql(UNDECODED)} IS NULL`,
    sql`COMMENT ON VIEW ${view} IS '${signature}'`,
  ];
}

function indexesOf(table: EventTable, indexed: readonly string[], known: ReadonlySet<string>): readonly Sql[] {
  const { name, parameters } = table;
  const chosen = parameters.filter((column) => indexed.includes(column.name));
  const definitions = [
    // Malformed logs are few: counting reads this index.
    [UNDECODED, `(chain_id, block_number) WHERE ${UNDECODED} IS NOT NULL`] as const,
    ...chosen.map((column) => [column.name, `(${column.name}, ${EVENT_KEY.join(', ')})`] as const),
  ];
  return definitions
    .filter(([column]) => !known.has(indexName(table, column)))
    .map(([column, on]) => rawSql(`CREATE INDEX ${indexName(table, column)} ON ${name} ${on}`));
}

function placeView({ kind }: EventTable): readonly string[] {
  return Object.entries(PLACE_COLUMNS)
    .filter(([column]) => kind === 'event' || column !== 'log_index')
    .map(([column, type]) => shownColumn(column, type));
}

function shownColumn(name: string, type: string): string {
  return type === 'bytea' ? `analytics.hex(${name}) AS ${name}` : name;
}

export function relationNames(table: EventTable): readonly string[] {
  const columns = [KEY, UNDECODED, ...table.parameters.map(({ name }) => name)];
  return [relationOf(table), ...columns.map((column) => indexName(table, column))];
}

const KEY = '_pkey';

/** Shares a namespace with tables, which have no `$`. Long ones have the parameter's position. */
function indexName(table: EventTable, column: string): string {
  const name = `${relationOf(table)}$${column}`;
  if (name.length <= NAME_BYTES) return name;
  return `${relationOf(table)}$${table.parameters.findIndex((parameter) => parameter.name === column)}`;
}

const NAME_BYTES = 63;

function relationOf({ name }: EventTable): string {
  return name.slice(name.indexOf('.') + 1);
}
