/** Lookups of projection statements in the rows that they count, one per requested key. */
import { rawSql, type Sql, sql } from '@chainstead/db';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** A subquery over counted rows that runs once per requested key. */
export interface SqlLookup<By extends string> {
  /** Unique among the lookups of all projections. */
  readonly name: string;
  /** The key: column names of `wanted`, with their types. */
  readonly by: Readonly<Record<By, string>>;
  /** A query of the `by` columns over changed rows, subjects and results of other lookups. */
  readonly wanted: Sql;
  /** Columns of its result with their types. */
  readonly found: Readonly<Record<string, string>>;
  /** Shard of the rows it reads; absent if any node may have them. */
  readonly shard?: LookupShard<NoInfer<By>>;
  /**
   * Returns the subquery. @param at SQL of each column of `by` @param isInShard condition that the row with this alias
   * is in `shard`
   */
  find(at: Readonly<Record<By, Sql>>, isInShard: (alias: string) => Sql): Sql;
  /**
   * Returns the same for all keys in one query, if any node may have rows: a query of `by` and `found` that joins the
   * relation `requested`. It may omit empty results. @param at the columns of `requested`
   */
  findAll?(at: Readonly<Record<By, Sql>>): Sql;
}

/** The shard that has all rows of a key. */
export interface LookupShard<By extends string> {
  /** Distribution column of a table that the subquery reads; its other tables are distributed alike. */
  readonly column: PgColumn;
  /** Returns the value of that column in rows of the key. */
  key(at: Readonly<Record<By, Sql>>): Sql;
}

/** Returns the lookup, with key columns inferred from `by`. */
export function defineSqlLookup<By extends string>(lookup: SqlLookup<By>): SqlLookup<By> {
  return lookup;
}

/** Returns the relation's columns with the names of `by`. */
export function keyOfLookup<By extends string>(relation: string, { by }: Pick<SqlLookup<By>, 'by'>): Record<By, Sql> {
  const names = Object.keys(by) as By[];
  return Object.fromEntries(names.map((name) => [name, rawSql(`${relation}.${name}`)])) as Record<By, Sql>;
}

/** Returns the subquery for a single server. */
export function findAt<By extends string>(
  { find, shard }: Pick<SqlLookup<By>, 'find' | 'shard'>,
  at: Readonly<Record<By, Sql>>,
): Sql {
  return find(at, (alias) =>
    shard === undefined ? rawSql('true') : sql`${shardColumn(shard, alias)} = ${shard.key(at)}`,
  );
}

/** Returns the column that determines a row's shard. */
export function shardColumn<By extends string>({ column }: LookupShard<By>, alias: string): Sql {
  return rawSql(`${alias}.${column.name}`);
}
