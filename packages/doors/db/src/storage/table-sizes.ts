import { readLayout } from '../citus/read-layout.ts';
import { readShards } from '../citus/read-shards.ts';
import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

export interface TableSize {
  readonly table: string;
  /** At the last autovacuum; null before. */
  readonly rows: number | null;
  /** With TOAST. */
  readonly heapBytes: number;
  readonly indexBytes: number;
  readonly partitions: number;
}

export interface StorageSizes {
  readonly tables: readonly TableSize[];
  /** Without the WAL. On Citus: of all responding nodes. */
  readonly databaseBytes: number;
  /** Nodes without response: their data is missing. */
  readonly away: readonly string[];
}

const SIZES = sql`
  SELECT * FROM (SELECT coalesce(root.relname, own.relname) AS "table",
         CASE WHEN bool_and(own.reltuples < 0) THEN NULL ELSE sum(greatest(own.reltuples, 0))::float8 END AS rows,
         coalesce(sum(pg_table_size(own.oid)), 0)::float8 AS "heapBytes",
         coalesce(sum(pg_indexes_size(own.oid)), 0)::float8 AS "indexBytes",
         count(*) FILTER (WHERE own.relispartition)::int AS partitions
    FROM pg_class AS own LEFT JOIN pg_class AS root ON root.oid = pg_partition_root(own.oid) AND own.relispartition
   WHERE own.relkind = 'r' AND own.relnamespace = current_schema()::regnamespace
   GROUP BY 1) AS sized ORDER BY "heapBytes" + "indexBytes" DESC, "table"`;

/** Accesses every file, but counts no rows. */
export async function readTableSizes(database: Pick<Database, 'query'>): Promise<StorageSizes> {
  const [tables, [whole], layout] = await Promise.all([
    database.query<TableSize>(SIZES),
    database.query<{ bytes: number }>(sql`SELECT pg_database_size(current_database())::float8 AS bytes`),
    readLayout(database),
  ]);
  const distributed = tables.filter(({ table }) => layout?.tables.has(table) === true);
  if (distributed.length === 0) return { tables, databaseBytes: whole?.bytes ?? 0, away: [] };
  const { inShards, away } = await readInShards(database, distributed);
  const all = tables.map((size) => inShards.get(size.table) ?? size).toSorted((a, b) => bytesOf(b) - bytesOf(a));
  return { tables: all, databaseBytes: all.reduce((sum, size) => sum + bytesOf(size), 0), away };
}

function bytesOf({ heapBytes, indexBytes }: TableSize): number {
  return heapBytes + indexBytes;
}

/** The coordinator's own files are empty. */
async function readInShards(database: Pick<Database, 'query'>, tables: readonly TableSize[]) {
  const names = tables.map(({ table }) => table);
  const reading = await readShards(database, names);
  const inShards = new Map<string, TableSize>();
  for (const { table, partitions } of tables) {
    const shards = reading.shards.filter(({ root }) => root === table);
    const analyzed = shards.filter(({ tuples }) => tuples >= 0);
    const isCopied = shards.every(({ lowest }) => lowest === null);
    const rows = analyzed.reduce((sum, { tuples }) => (isCopied ? Math.max(sum, tuples) : sum + tuples), 0);
    const heapBytes = shards.reduce((sum, shard) => sum + shard.heapBytes, 0);
    const indexBytes = shards.reduce((sum, shard) => sum + shard.bytes - shard.heapBytes, 0);
    inShards.set(table, { table, rows: analyzed.length === 0 ? null : rows, heapBytes, indexBytes, partitions });
  }
  return { inShards, away: reading.away.map(({ node }) => node) };
}
