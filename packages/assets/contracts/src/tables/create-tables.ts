import { type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import { type BulkIndex, buildOnPartitions } from '@chainstead/sync';
import { bytesColumns, type EventTable, PLACE_COLUMNS, UNDECODED } from './event-table.ts';
import { EVENT_KEY } from './row-table.ts';

/**
 * Locks no existing relation: readers would hold up the transaction, and it holds up commits.
 * @returns indexes that existing tables lack, for {@link buildIndexes}
 */
export async function createEventTables(
  transaction: Transaction,
  tables: readonly EventTable[],
  indexed: (table: EventTable) => readonly string[],
): Promise<readonly EventIndex[]> {
  await transaction.query(sql`CREATE SCHEMA IF NOT EXISTS contracts`);
  const known = await knownRelations(transaction, tables);
  const isNew = ({ table }: EventIndex): boolean => !known.has(table);
  const missing = tables
    .flatMap((table) => indexesOf(table, indexed(table)))
    .filter(({ name }) => !known.has(name));
  for (const table of tables) {
    if (!known.has(table.name)) await createTable(transaction, table);
    if (!known.has(table.view)) await createView(transaction, table);
  }
  for (const { name, table, definition } of missing.filter(isNew))
    await transaction.query(rawSql(`CREATE INDEX ${name} ON ${table} ${definition}`));
  await grantReads(transaction, tables);
  return missing.filter((index) => !isNew(index));
}

type EventIndex = Omit<BulkIndex, 'isPartitioned'>;

/** Commits proceed. A repeated call continues. @throws {TablesHeldError} */
export async function buildIndexes(database: Database, indexes: readonly EventIndex[]): Promise<void> {
  for (const index of new Map(indexes.map((one) => [one.name, one])).values())
    await buildOnPartitions(database, index);
}

/** Tables and views with their schema, indexes without. */
async function knownRelations(
  transaction: Transaction,
  tables: readonly EventTable[],
): Promise<ReadonlySet<string>> {
  const names = tables.flatMap(({ name, view }) => [name, view]);
  const rows = await transaction.query<{ name: string }>(
    sql`SELECT name FROM unnest(${names}::text[]) AS name WHERE to_regclass(name) IS NOT NULL
     UNION ALL
     SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace('contracts') AND relkind = 'I'`,
  );
  return new Set(rows.map(({ name }) => name));
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

async function createTable(transaction: Transaction, table: EventTable): Promise<void> {
  const name = rawSql(table.name);
  const columns = [
    ...Object.entries(PLACE_COLUMNS).map(([column, type]) => `${column} ${type} NOT NULL`),
    ...table.parameters.map((column) => `${column.name} ${column.type}`),
    `${UNDECODED} bytea`,
    `CONSTRAINT ${indexName(table, KEY)} PRIMARY KEY (${EVENT_KEY.join(', ')})`,
  ];
  await transaction.query(
    sql`CREATE TABLE ${name} (${rawSql(columns.join(', '))}) PARTITION BY RANGE (chain_id, block_number)`,
  );
  await transaction.query(sql`COMMENT ON TABLE ${name} IS '${rawSql(table.abi.signature)}'`);
}

async function createView(transaction: Transaction, table: EventTable): Promise<void> {
  const view = rawSql(table.view);
  const shown = [
    ...placeView(table),
    ...table.parameters.map(({ name: column, type }) => shownColumn(column, type)),
    ...[...bytesColumns(table)].map(([column, shownName]) => `${column} AS ${shownName}`),
  ];
  await transaction.query(
    sql`CREATE VIEW ${view} AS SELECT ${rawSql(shown.join(', '))} FROM ${rawSql(table.name)} WHERE ${rawSql(UNDECODED)} IS NULL`,
  );
  await transaction.query(sql`COMMENT ON VIEW ${view} IS '${rawSql(table.abi.signature)}'`);
}

function indexesOf(table: EventTable, indexed: readonly string[]): readonly EventIndex[] {
  const chosen = table.parameters.filter((column) => indexed.includes(column.name));
  const definitions = [
    // Malformed logs are few: counting reads this index.
    [UNDECODED, `(chain_id, block_number) WHERE ${UNDECODED} IS NOT NULL`] as const,
    ...chosen.map((column) => [column.name, `(${column.name}, ${EVENT_KEY.join(', ')})`] as const),
  ];
  return definitions.map(([column, definition]) => ({
    ...{ name: indexName(table, column), table: table.name, definition },
  }));
}

function placeView({ kind }: EventTable): readonly string[] {
  return Object.entries(PLACE_COLUMNS)
    .filter(([column]) => kind === 'event' || column !== 'log_index')
    .map(([column, type]) => shownColumn(column, type));
}

function shownColumn(name: string, type: string): string {
  return type === 'bytea' ? `analytics.hex(${name}) AS ${name}` : name;
}

const KEY = '_pkey';

/** Shares a namespace with tables, which have no `$`. Long ones have the parameter's position. */
export function indexName(table: EventTable, column: string): string {
  const name = `${relationOf(table)}$${column}`;
  if (name.length <= NAME_BYTES) return name;
  return `${relationOf(table)}$${table.parameters.findIndex((parameter) => parameter.name === column)}`;
}

const NAME_BYTES = 63;

function relationOf({ name }: EventTable): string {
  return name.slice(name.indexOf('.') + 1);
}
