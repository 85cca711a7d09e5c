import { rawSql, type Sql, sql } from '@chainstead/db';
import type { PgColumn } from 'drizzle-orm/pg-core';

export interface SqlLookup<By extends string> {
  readonly name: string;
  readonly by: Readonly<Record<By, string>>;
  /** A query over changed rows, subjects and results of other lookups. */
  readonly wanted: Sql;
  readonly found: Readonly<Record<string, string>>;
  /** Absent if any node may have the rows. */
  readonly shard?: LookupShard<NoInfer<By>>;
  /** @param isInShard condition that the row with this alias is in `shard` */
  find(at: Readonly<Record<By, Sql>>, isInShard: (alias: string) => Sql): Sql;
  /** Optional: for all keys, joined with the relation `requested`. It may omit empty results. */
  findAll?(at: Readonly<Record<By, Sql>>): Sql;
}

export interface LookupShard<By extends string> {
  /** Any table that the subquery reads; its other tables are distributed alike. */
  readonly column: PgColumn;
  key(at: Readonly<Record<By, Sql>>): Sql;
}

export function defineSqlLookup<By extends string>(lookup: SqlLookup<By>): SqlLookup<By> {
  return lookup;
}

export function keyOfLookup<By extends string>(
  relation: string,
  { by }: Pick<SqlLookup<By>, 'by'>,
): Record<By, Sql> {
  const names = Object.keys(by) as By[];
  return Object.fromEntries(names.map((name) => [name, rawSql(`${relation}.${name}`)])) as Record<By, Sql>;
}

/** For a single server. */
export function findAt<By extends string>({ find, shard }: SqlLookup<By>, at: Readonly<Record<By, Sql>>): Sql {
  return find(at, (alias) =>
    shard === undefined ? rawSql('true') : sql`${shardColumn(shard, alias)} = ${shard.key(at)}`,
  );
}

export function shardColumn<By extends string>({ column }: LookupShard<By>, alias: string): Sql {
  return rawSql(`${alias}.${column.name}`);
}
