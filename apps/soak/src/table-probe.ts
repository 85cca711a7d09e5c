import type { Database } from '@chainstead/db';

/** A table at one moment. */
export interface TableLook {
  readonly name: string;
  /** As Postgres estimates them. */
  readonly live: number;
  readonly dead: number;
  /** Bytes of the table, and of its indexes. */
  readonly tableBytes: number;
  readonly indexBytes: number;
  readonly inserted: number;
  readonly updated: number;
  /** Updates that touched no index. */
  readonly hotUpdated: number;
  readonly deleted: number;
  readonly vacuums: number;
  readonly analyzes: number;
}

/** Every table of the program; partitions count with their parent. */
export async function lookAtTables(database: Database): Promise<TableLook[]> {
  return await database.query<TableLook & Record<string, unknown>>(
    `SELECT coalesce(pg_partition_root(s.relid)::regclass::text, s.relname) AS name,
       sum(n_live_tup)::bigint AS live, sum(n_dead_tup)::bigint AS dead,
       sum(pg_table_size(s.relid))::bigint AS "tableBytes", sum(pg_indexes_size(s.relid))::bigint AS "indexBytes",
       sum(n_tup_ins)::bigint AS inserted, sum(n_tup_upd)::bigint AS updated, sum(n_tup_hot_upd)::bigint AS "hotUpdated",
       sum(n_tup_del)::bigint AS deleted, sum(autovacuum_count)::bigint AS vacuums, sum(autoanalyze_count)::bigint AS analyzes
     FROM pg_stat_user_tables s WHERE schemaname = 'public' GROUP BY 1 ORDER BY 1`,
  );
}

/** What a table's pages hold, counted. */
export interface TableContents {
  readonly name: string;
  readonly deadPercent: number;
  readonly freePercent: number;
}

/** Reads the tables that have dead rows or free space; null where the server has no pgstattuple. @param admin may make extensions */
export async function countDeadRows(admin: Database, names: readonly string[]): Promise<TableContents[] | null> {
  const [available] = await admin.query("SELECT FROM pg_available_extensions WHERE name = 'pgstattuple'");
  if (available === undefined) return null;
  await admin.query('CREATE EXTENSION IF NOT EXISTS pgstattuple');
  return await admin.query<TableContents & Record<string, unknown>>(
    `SELECT c.relname AS name, round(dead_tuple_percent::numeric, 1)::float8 AS "deadPercent",
       round(approx_free_percent::numeric, 1)::float8 AS "freePercent"
     FROM pg_class c, LATERAL pgstattuple_approx(c.oid)
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) ORDER BY 1`,
    [names],
  );
}
