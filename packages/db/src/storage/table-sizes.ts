import { readLayout } from '../citus/read-layout.ts';
import { readShards } from '../citus/read-shards.ts';
import type { Database } from '../database.ts';

/** What a table takes on the disk, its partitions and shards included. Bytes. */
export interface TableSize {
  readonly table: string;
  /** As the server estimated at its last look (autovacuum); null before the first. */
  readonly rows: number | null;
  /** Rows with what is stored beside them. */
  readonly heapBytes: number;
  readonly indexBytes: number;
  readonly partitions: number;
}

export interface StorageSizes {
  /** The largest first. */
  readonly tables: readonly TableSize[];
  /** Of the database, without the server's log; of a cluster of Citus, of its tables on all nodes that answer. */
  readonly databaseBytes: number;
  /** Nodes of a cluster that did not answer: what lies on them is missing. */
  readonly away: readonly string[];
}

/** One that is dropped at that moment has no size. */
const SIZES = `
  SELECT * FROM (SELECT coalesce(root.relname, own.relname) AS "table",
         CASE WHEN bool_and(own.reltuples < 0) THEN NULL ELSE sum(greatest(own.reltuples, 0))::float8 END AS rows,
         coalesce(sum(pg_table_size(own.oid)), 0)::float8 AS "heapBytes",
         coalesce(sum(pg_indexes_size(own.oid)), 0)::float8 AS "indexBytes",
         count(*) FILTER (WHERE own.relispartition)::int AS partitions
    FROM pg_class AS own LEFT JOIN pg_class AS root ON root.oid = pg_partition_root(own.oid) AND own.relispartition
   WHERE own.relkind = 'r' AND own.relnamespace = current_schema()::regnamespace
   GROUP BY 1) AS sized ORDER BY "heapBytes" + "indexBytes" DESC, "table"`;

/** Sizes of all tables. Looks at every file of the database, and counts nothing. */
export async function readTableSizes(database: Pick<Database, 'query'>): Promise<StorageSizes> {
  const [tables, [whole], layout] = await Promise.all([
    database.query<TableSize>(SIZES),
    database.query<{ bytes: number }>('SELECT pg_database_size(current_database())::float8 AS bytes'),
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

/** The coordinator's own files of these are empty. */
async function readInShards(database: Pick<Database, 'query'>, tables: readonly TableSize[]) {
  const reading = await readShards(
    database,
    tables.map(({ table }) => table),
  );
  const inShards = new Map<string, TableSize>();
  for (const { table, partitions } of tables) {
    const shards = reading.shards.filter(({ root }) => root === table);
    const known = shards.filter(({ tuples }) => tuples >= 0);
    // Copies of a reference table have the same rows.
    const isCopied = shards.every(({ lowest }) => lowest === null);
    const rows = known.reduce((sum, { tuples }) => (isCopied ? Math.max(sum, tuples) : sum + tuples), 0);
    const heapBytes = shards.reduce((sum, shard) => sum + shard.heapBytes, 0);
    const indexBytes = shards.reduce((sum, shard) => sum + shard.bytes - shard.heapBytes, 0);
    inShards.set(table, { table, rows: known.length === 0 ? null : rows, heapBytes, indexBytes, partitions });
  }
  return { inShards, away: reading.away.map(({ node }) => node) };
}
