import type { DeclaredTable } from '@chainstead/db/table-storage';
import { STORAGE_BY_WRITES } from '@chainstead/db/table-writes';

const BREAKPOINT = '--> statement-breakpoint';
const CREATE_TABLE = /^CREATE TABLE "(\w+)"/;
const CREATE_INDEX = /^CREATE (?:UNIQUE )?INDEX "\w+" ON "(\w+)"/;

/** The statements of a migration that drizzle-kit wrote, in the style of `migrations/`. */
export function statementsOf(sql: string): readonly string[] {
  return sql
    .split(BREAKPOINT)
    .map((statement) =>
      statement
        .trim()
        .replaceAll('\t', '  ')
        .replaceAll('"bytea"', 'bytea')
        .replaceAll(/numeric\((\d+), (\d+)\)/g, 'numeric($1,$2)'),
    )
    .filter((statement) => statement !== '');
}

/** The statements, with what drizzle has no words for: `PARTITION BY` and the storage parameters of new tables. */
export function completeStatements(statements: readonly string[], tables: readonly DeclaredTable[]): readonly string[] {
  const storages = new Map(tables.map(({ name, storage }) => [name, storage]));
  const completed = statements.map((statement) => {
    const name = CREATE_TABLE.exec(statement)?.[1];
    return name !== undefined && storages.get(name)?.isPartitioned === true ? partitioned(statement) : statement;
  });
  const created = statements.flatMap((statement) => CREATE_TABLE.exec(statement)?.[1] ?? []);
  return [...completed, ...created.flatMap((name) => storageStatement(name, storages.get(name)) ?? [])];
}

/** The statements that make these tables: of each the table, its indexes and its storage parameters. */
export function statementsOfTables(statements: readonly string[], tables: readonly DeclaredTable[]): readonly string[] {
  const own = statements.filter((statement) => {
    const name = (CREATE_TABLE.exec(statement) ?? CREATE_INDEX.exec(statement))?.[1];
    return tables.some((table) => table.name === name);
  });
  const completed = completeStatements(own, tables);
  return tables.flatMap(({ name }) =>
    completed.filter((statement) => new RegExp(`^(?:CREATE|ALTER) (?:.* ON|TABLE) "${name}"`).test(statement)),
  );
}

/** Joined as migrations are; each statement ends with a breakpoint. */
export function joinStatements(statements: readonly string[]): string {
  return statements.map((statement) => `${statement.replace(/;?$/, ';')}${BREAKPOINT}\n`).join('');
}

function partitioned(statement: string): string {
  return statement.replace(/;?$/, ' PARTITION BY RANGE ("chain_id", "block_number");');
}

/** Null where Postgres' defaults suit, and for a partitioned table, whose partitions have the parameters. */
function storageStatement(name: string, storage: DeclaredTable['storage'] | undefined): string | null {
  if (storage === undefined || storage.isPartitioned === true) return null;
  const parameters = Object.entries(STORAGE_BY_WRITES[storage.writes]).map(([key, value]) => `${key} = ${value}`);
  return parameters.length === 0 ? null : `ALTER TABLE "${name}" SET (${parameters.join(', ')});`;
}
