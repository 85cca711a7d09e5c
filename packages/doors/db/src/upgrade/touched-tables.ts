import type { Database } from '../database.ts';
import { sql } from '../sql.ts';
import type { StatementEffect } from './statement-effects.ts';

export interface TouchedTable {
  readonly name: string;
  readonly rows: number;
  readonly heapBytes: number;
  readonly totalBytes: number;
  readonly isOwned: boolean;
}

/** At each migration: an earlier one may have created, renamed or dropped some. */
export interface UpgradedTables {
  /** By current name; undefined: missing, or new and empty. */
  get(name: string): TouchedTable | undefined;
  tableOf(index: string): string | undefined;
  apply(effect: StatementEffect): void;
}

export async function readUpgradedTables(database: Pick<Database, 'query'>): Promise<UpgradedTables> {
  const touched = await database.query<TouchedTable>(TABLES);
  const tables = new Map<string, TouchedTable>(touched.map((table) => [table.name, table]));
  const indexed = await database.query<{ index: string; table: string }>(
    sql`SELECT indexname AS index, tablename AS table FROM pg_indexes WHERE schemaname = current_schema()`,
  );
  const indexes = new Map(indexed.map(({ index, table }) => [index, table]));
  return {
    get: (name) => tables.get(name),
    tableOf: (index) => indexes.get(index),
    apply({ kind, object, renamedTo, index }) {
      const name = object ?? '';
      const table = tables.get(name);
      if (kind === 'create-table' || kind === 'drop-table') tables.delete(name);
      if (kind === 'build-index' && index !== undefined) indexes.set(index.name, name);
      if (kind !== 'rename' || renamedTo === undefined) return;
      tables.delete(name);
      if (table !== undefined) tables.set(renamedTo, table);
      for (const [own, of] of indexes) if (of === name) indexes.set(own, renamedTo);
    },
  };
}

/** Tables without statistics count a hundred rows per page. */
const TABLES = sql`
  SELECT own.relname AS name, pg_has_role(own.relowner, 'USAGE') AS "isOwned",
         coalesce(sum(CASE WHEN part.reltuples >= 0 THEN part.reltuples
                           ELSE pg_relation_size(part.oid) / current_setting('block_size')::int * 100 END), 0)::float8 AS rows,
         coalesce(sum(pg_relation_size(part.oid)), 0)::float8 AS "heapBytes",
         coalesce(sum(pg_total_relation_size(part.oid)), 0)::float8 AS "totalBytes"
    FROM pg_class AS own
      LEFT JOIN LATERAL (SELECT relid FROM pg_partition_tree(own.oid) WHERE isleaf UNION SELECT own.oid WHERE own.relkind = 'r') AS tree ON true
      LEFT JOIN pg_class AS part ON part.oid = tree.relid AND part.relkind = 'r'
   WHERE own.relkind IN ('r', 'p') AND NOT own.relispartition AND own.relnamespace = current_schema()::regnamespace
   GROUP BY own.oid, own.relname, own.relowner`;
