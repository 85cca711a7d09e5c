/**
 * Access of projection statements to stored rows. On one server they read the tables directly, by index lookups. Citus
 * can't plan correlated subqueries over distributed tables, and scans the whole inner table of an outer join. There,
 * the required rows are fetched into temporary tables right before a statement.
 */
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
import { fetchFound } from './fetch-sql-lookup.ts';
import { findAt, type SqlLookup } from './sql-lookup.ts';
import { emptyTemporary } from './temporary-table.ts';

/** Rows of one of the projection's own tables, by a prefix of its key. */
export interface StoredRows {
  readonly table: PgTable;
  /** SQL names of the key's columns. */
  readonly key: readonly string[];
  /** A query of distinct requested keys, over changed rows and subjects only. */
  readonly wanted: Sql;
}

export interface TableAccess {
  /** Whether tables are read directly, so that rows can be locked in order. */
  readonly isLocal: boolean;
  /** Returns a relation with the requested rows of the table, and possibly others. It needs an alias. */
  stored(rows: StoredRows): Sql;
  /** Returns the subquery for the key given by `at`. */
  lookup<By extends string>(lookup: SqlLookup<By>, at: Readonly<Record<By, Sql>>): Sql;
}

/** Access on one server. */
export const LOCAL_ACCESS: TableAccess = {
  isLocal: true,
  stored: ({ table }) => tableName(table),
  lookup: (lookup, at) => findAt(lookup, at),
};

/** Runs statements of a projection. @param spread whether their tables are distributed */
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

/** A temporary table and the function that fills it. */
interface Fetch {
  readonly name: string;
  /** Temporary tables in this statement are filled first. */
  readonly reads: Sql;
  fill(transaction: Transaction): Promise<void>;
}

interface FetchedAccess {
  readonly access: TableAccess;
  /** Fills the temporary tables of the statement with currently stored rows. */
  fetchFor(transaction: Transaction, statement: Sql): Promise<void>;
}

function createFetchedAccess(): FetchedAccess {
  const fetches = new Map<string, Fetch>();

  async function fetchFor(transaction: Transaction, statement: Sql, filled = new Set<Fetch>()): Promise<void> {
    const { text } = statementOf(statement);
    for (const fetch of fetches.values()) {
      if (filled.has(fetch) || !new RegExp(`\\b${fetch.name}\\b`).test(text)) continue;
      await fetchFor(transaction, fetch.reads, filled);
      await fetch.fill(transaction);
      filled.add(fetch);
    }
  }

  return {
    access: {
      isLocal: false,
      stored(rows) {
        const table = getTableName(rows.table);
        const { text, values } = statementOf(rows.wanted);
        const key = `${table} ${text} ${values.map(String).join()}`;
        const name = fetches.get(key)?.name ?? `stored_${table}_${fetches.size}`;
        fetches.set(key, { name, reads: rows.wanted, fill: (transaction) => fetchStored(transaction, name, rows) });
        return rawSql(name);
      },
      lookup(lookup, at) {
        const name = `found_${lookup.name}`;
        fetches.set(name, { name, reads: lookup.wanted, fill: (transaction) => fetchFound(transaction, name, lookup) });
        const columns = Object.keys(lookup.found).map((column) => `fetched.${column}`);
        const conditions = Object.entries<Sql>(at).map(
          ([column, value]) => sql`fetched.${rawSql(`by_${column}`)} = ${value}`,
        );
        return sql`SELECT ${rawSql(columns.join(', '))} FROM ${rawSql(name)} AS fetched WHERE ${joinSql(conditions, ' AND ')}`;
      },
    },
    fetchFor,
  };
}

async function fetchStored(transaction: Transaction, name: string, { table, key, wanted }: StoredRows): Promise<void> {
  await emptyTemporary(transaction, name, `LIKE ${getTableName(table)}`, key);
  const columns = rawSql(key.join(', '));
  await runStatements(transaction, [
    sql`WITH wanted AS MATERIALIZED (SELECT DISTINCT ${columns} FROM (${wanted}) AS keys)
     INSERT INTO ${rawSql(name)} SELECT stored.* FROM ${tableName(table)} AS stored JOIN wanted USING (${columns})`,
  ]);
}
