import { type Database, type Sql, sql } from '@chainstead/db';
import { EVENT_KEY } from '../tables/row-table.ts';

/** `jsonb` lists, without partial, invalid and expression indexes. @param oid null: empty */
export function indexColumns(oid: Sql): Sql {
  return sql`coalesce((SELECT jsonb_agg(ARRAY(
      SELECT attribute.attname FROM unnest(index.indkey) WITH ORDINALITY AS key (attnum, place)
        JOIN pg_attribute AS attribute ON attribute.attrelid = index.indrelid AND attribute.attnum = key.attnum ORDER BY key.place))
    FROM pg_index AS index
    WHERE index.indrelid = ${oid} AND index.indisvalid AND index.indpred IS NULL AND index.indexprs IS NULL), '[]')`;
}

/** Columns that lead an index with the row key next: pages of a value are ranges of it. */
export function indexedColumns(indexes: readonly (readonly string[])[]): ReadonlySet<string> {
  const wanted = EVENT_KEY.join();
  return new Set(
    indexes.flatMap(([first, ...rest]) => (first !== undefined && rest.join() === wanted ? [first] : [])),
  );
}

export async function readIndexes(
  database: Pick<Database, 'query'>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await database.query<{ name: string; indexes: readonly (readonly string[])[] }>(INDEXES);
  return new Map(rows.map(({ name, indexes }) => [name, indexedColumns(indexes)]));
}

const INDEXES = sql`SELECT 'contracts.' || relname AS name, ${indexColumns(sql`indexed_table.oid`)} AS indexes
  FROM pg_class AS indexed_table WHERE relnamespace = to_regnamespace('contracts') AND relkind = 'p'`;
