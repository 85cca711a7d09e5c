/** Citus finds a shard by values in a statement's text: requested keys are grouped by shard. */
import { isDistributed, joinSql, rawSql, runStatements, type Sql, sql, type Transaction } from '@chainstead/db';
import { getTableName } from 'drizzle-orm';
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

function shardColumn<By extends string>({ column }: LookupShard<By>, alias: string): Sql {
  return rawSql(`${alias}.${column.name}`);
}

/** Enough to make planning negligible, and few enough for the statement's text. */
const REQUESTED_MAX = 5_000;

export async function fetchFound<By extends string>(
  transaction: Transaction,
  name: string,
  lookup: SqlLookup<By>,
): Promise<void> {
  const { by, found, wanted, shard, findAll } = lookup;
  const requestedBy = Object.entries<string>(by).map(([column, type]) => ({ name: `by_${column}`, type }));
  const columns = [...requestedBy, ...Object.entries(found).map(([column, type]) => ({ name: column, type }))];
  await emptyTemporary(
    transaction,
    name,
    columns.map((column) => `${column.name} ${column.type}`).join(', '),
    requestedBy.map((column) => column.name),
  );
  const insert = (query: Sql) => runStatements(transaction, [sql`INSERT INTO ${rawSql(name)} ${query}`]);
  if (findAll !== undefined) {
    await runStatements(transaction, [
      sql`WITH requested AS MATERIALIZED (SELECT DISTINCT ${namesOf(by)} FROM (${wanted}) AS every)
       INSERT INTO ${rawSql(name)} SELECT ${namesOf(by)}, ${namesOf(found)} FROM (${findAll(keyOfLookup('requested', lookup))}) AS answer`,
    ]);
    return;
  }
  if (shard === undefined) {
    for (const { key } of await readRequested(transaction, lookup, null)) await insert(findOne(lookup, key));
    return;
  }
  const isInShards = await isDistributed(transaction, getTableName(shard.column.table));
  const requested = await readRequested(transaction, lookup, isInShards ? shard : null);
  for (const inShard of Map.groupBy(requested, (request) => request.shard).values())
    for (let from = 0; from < inShard.length; from += REQUESTED_MAX)
      await insert(findMany(lookup, inShard.slice(from, from + REQUESTED_MAX), isInShards ? shard : null));
}

export async function emptyTemporary(
  transaction: Transaction,
  name: string,
  columns: string,
  key: readonly string[],
): Promise<void> {
  const [existing] = await transaction.query(
    sql`SELECT 1 AS found FROM pg_class WHERE relname = ${name} AND relnamespace = pg_my_temp_schema()`,
  );
  if (existing !== undefined) {
    await transaction.query(sql`DELETE FROM ${rawSql(name)}`);
    return;
  }
  await transaction.query(sql`CREATE TEMP TABLE ${rawSql(name)} (${rawSql(columns)}) ON COMMIT DELETE ROWS`);
  await transaction.query(sql`CREATE INDEX ON ${rawSql(name)} (${rawSql(key.join(', '))})`);
}

interface Requested {
  readonly key: Readonly<Record<string, string | null>>;
  readonly shard: string | null;
  /** Value of the distribution column; null if no table is distributed. */
  readonly shardValue: string | null;
}

/** @param shard null if no table is distributed */
async function readRequested<By extends string>(
  transaction: Transaction,
  { by, wanted }: SqlLookup<By>,
  shard: LookupShard<By> | null,
): Promise<readonly Requested[]> {
  const at = keyOfLookup('requested', { by });
  const key = shard?.key(at) ?? rawSql('NULL');
  const table = shard === null ? null : getTableName(shard.column.table);
  const rows = await transaction.query<Omit<Requested, 'key'> & { key: (string | null)[] }>(
    sql`SELECT ARRAY[${joinSql(Object.values<Sql>(at).map((column) => sql`${column}::text`))}] AS key,
       ${shard === null ? key : sql`get_shard_id_for_distribution_column(${table}::regclass, ${key})`}::text AS shard,
       (${key})::text AS "shardValue"
     FROM (SELECT DISTINCT ${namesOf(by)} FROM (${wanted}) AS every) AS requested`,
  );
  const names = Object.keys(by);
  return rows.map(({ key: texts, ...where }) => ({
    ...where,
    key: Object.fromEntries(names.map((name, index) => [name, texts[index] ?? null])),
  }));
}

function findOne<By extends string>(lookup: SqlLookup<By>, key: Requested['key']): Sql {
  const at = Object.fromEntries(
    Object.entries<string>(lookup.by).map(([column, type]) => [
      column,
      rawSql(`${quotedText(key[column])}::${type}`),
    ]),
  ) as Record<By, Sql>;
  return sql`SELECT ${joinSql(Object.values<Sql>(at))}, answer.* FROM (${findAt(lookup, at)}) AS answer`;
}

/** @param shard null if no table is distributed; otherwise all keys are in one shard */
function findMany<By extends string>(
  lookup: SqlLookup<By>,
  requested: readonly Requested[],
  shard: LookupShard<By> | null,
): Sql {
  const { by } = lookup;
  const at = keyOfLookup('requested', lookup);
  const values = Object.entries<string>(by).map(([column, type]) =>
    arrayOf(
      requested.map(({ key }) => key[column] ?? null),
      type,
    ),
  );
  const found =
    shard === null
      ? findAt(lookup, at)
      : lookup.find(at, (alias) => {
          const column = shardColumn(shard, alias);
          return sql`${column} = ${shard.key(at)} AND ${isInShard(column, requested, shard)}`;
        });
  return sql`SELECT requested.*, answer.* FROM unnest(${joinSql(values)}) AS requested(${namesOf(by)})
    CROSS JOIN LATERAL (${found}) AS answer`;
}

/** A list alone would be an index condition whose values are all tried. */
function isInShard<By extends string>(column: Sql, requested: readonly Requested[], shard: LookupShard<By>): Sql {
  const type = shard.column.getSQLType();
  const [first = null, ...others] = new Set(requested.map(({ shardValue }) => shardValue));
  const isFirst = sql`${column} = ${rawSql(`${quotedText(first)}::${type}`)}`;
  return others.length === 0 ? isFirst : sql`(${isFirst} OR ${column} = ANY(${arrayOf(others, type)}))`;
}

function namesOf(columns: Readonly<Record<string, string>>): Sql {
  return rawSql(Object.keys(columns).join(', '));
}

/** Citus finds the shard only from values in the text. */
function arrayOf(values: readonly (string | null)[], type: string): Sql {
  const elements = values.map((value) => (value === null ? 'NULL' : `"${value.replaceAll(/["\\]/g, '\\$&')}"`));
  return rawSql(`${quotedText(`{${elements.join(',')}}`)}::${type}[]`);
}

function quotedText(value: string | null | undefined): string {
  return value === null || value === undefined ? 'NULL' : `'${value.replaceAll("'", "''")}'`;
}
