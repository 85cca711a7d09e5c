/** Citus can't plan correlated subqueries: there, rows are fetched into temporary tables first. */
import {
  joinSql,
  rawSql,
  runStatements,
  type Sql,
  sql,
  statementOf,
  type Transaction,
  tableName,
} from '@chainstead/db';
import { getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { emptyTemporary, fetchFound, findAt, type SqlLookup } from './sql-lookup.ts';

export interface StoredRows {
  readonly table: PgTable;
  readonly key: readonly string[];
  /** Distinct keys, over changed rows and subjects only. */
  readonly wanted: Sql;
}

export interface TableAccess {
  /** Tables are read directly, so that rows can be locked in order. */
  readonly isLocal: boolean;
  /** A relation with the requested rows, and possibly others. It needs an alias. */
  stored(rows: StoredRows): Sql;
  lookup<By extends string>(lookup: SqlLookup<By>, at: Readonly<Record<By, Sql>>): Sql;
}

export const LOCAL_ACCESS: TableAccess = {
  isLocal: true,
  stored: ({ table }) => tableName(table),
  lookup: (lookup, at) => findAt(lookup, at),
};

export async function runProjection(
  transaction: Transaction,
  spread: boolean,
  statementsOf: (access: TableAccess) => readonly Sql[],
): Promise<void> {
  const fetched = spread ? createFetchedAccess() : null;
  for (const statement of statementsOf(fetched?.access ?? LOCAL_ACCESS)) {
    await fetched?.fetchFor(transaction, statement);
    await runStatements(transaction, [statement]);
  }
}

interface TemporaryTable {
  readonly name: string;
  readonly reads: Sql;
  fill(transaction: Transaction): Promise<void>;
}

function createFetchedAccess() {
  const tables = new Map<string, TemporaryTable>();
  async function fetchFor(
    transaction: Transaction,
    statement: Sql,
    filled = new Set<TemporaryTable>(),
  ): Promise<void> {
    const { text } = statementOf(statement);
    for (const table of tables.values()) {
      if (filled.has(table) || !new RegExp(`\\b${table.name}\\b`).test(text)) continue;
      await fetchFor(transaction, table.reads, filled);
      await table.fill(transaction);
      filled.add(table);
    }
  }
  const access: TableAccess = {
    isLocal: false,
    stored(rows) {
      const table = getTableName(rows.table);
      const { text, values } = statementOf(rows.wanted);
      const key = `${table} ${text} ${values.map(String).join()}`;
      const name = tables.get(key)?.name ?? `stored_${table}_${tables.size}`;
      tables.set(key, { name, reads: rows.wanted, fill: (transaction) => fetchStored(transaction, name, rows) });
      return rawSql(name);
    },
    lookup(lookup, at) {
      const name = `found_${lookup.name}`;
      tables.set(name, {
        name,
        reads: lookup.wanted,
        fill: (transaction) => fetchFound(transaction, name, lookup),
      });
      const columns = Object.keys(lookup.found).map((column) => `fetched.${column}`);
      const isKey = Object.entries<Sql>(at).map(
        ([column, value]) => sql`fetched.${rawSql(`by_${column}`)} = ${value}`,
      );
      return sql`SELECT ${rawSql(columns.join(', '))} FROM ${rawSql(name)} AS fetched WHERE ${joinSql(isKey, ' AND ')}`;
    },
  };
  return { access, fetchFor };
}

async function fetchStored(
  transaction: Transaction,
  name: string,
  { table, key, wanted }: StoredRows,
): Promise<void> {
  await emptyTemporary(transaction, name, `LIKE ${getTableName(table)}`, key);
  const columns = rawSql(key.join(', '));
  await runStatements(transaction, [
    sql`WITH wanted AS MATERIALIZED (SELECT DISTINCT ${columns} FROM (${wanted}) AS keys)
     INSERT INTO ${rawSql(name)} SELECT stored.* FROM ${tableName(table)} AS stored JOIN wanted USING (${columns})`,
  ]);
}
