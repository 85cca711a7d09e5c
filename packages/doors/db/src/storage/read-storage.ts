import { statfs } from 'node:fs/promises';
import { errorText } from '@chainstead/core';
import { readLayout } from '../citus/read-layout.ts';
import { readShards } from '../citus/read-shards.ts';
import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

export interface StorageReport {
  readonly tables: readonly StoredTable[];
  readonly databaseBytes: number;
  /** Null: unknown. The `worker` role takes hourly samples. */
  readonly bytesPerDay: number | null;
  readonly overSeconds: number | null;
  readonly disk: DiskSpace;
  /** Null: unknown, or no growth. */
  readonly daysLeft: number | null;
  readonly away: readonly string[];
}

interface StoredTable extends TableSize {
  readonly bytesPerDay: number | null;
}

const DAY_SECONDS = 86_400;
const OVER_SECONDS_MIN = 3_000;

export async function readStorage(database: Pick<Database, 'query'>, place: DiskPlace): Promise<StorageReport> {
  const [{ tables, databaseBytes, away }, former] = await Promise.all([
    readTableSizes(database),
    readFormerSizes(database),
  ]);
  const disk = await readDiskSpace(place, databaseBytes);
  // Missing data must not count as shrinking.
  const growth = (bytes: number, then: FormerSize | null | undefined): number | null =>
    away.length > 0 ? null : growthPerDay(bytes, then ?? null);
  const bytesPerDay = growth(databaseBytes, former.database);
  return {
    tables: tables.map((size) => ({
      ...size,
      bytesPerDay: growth(size.heapBytes + size.indexBytes, former.tables.get(size.table)),
    })),
    databaseBytes,
    bytesPerDay,
    overSeconds: bytesPerDay === null ? null : (former.database?.secondsAgo ?? null),
    disk,
    daysLeft: daysUntilFull(disk, bytesPerDay),
    away,
  };
}

export function growthPerDay(bytes: number, former: FormerSize | null): number | null {
  if (former === null || former.secondsAgo < OVER_SECONDS_MIN) return null;
  return ((bytes - former.bytes) * DAY_SECONDS) / former.secondsAgo;
}

export function daysUntilFull(disk: DiskSpace, bytesPerDay: number | null): number | null {
  if (!disk.isKnown || bytesPerDay === null || bytesPerDay <= 0) return null;
  return disk.freeBytes / bytesPerDay;
}

export interface DiskPlace {
  /** Operator's `DATABASE_DISK_BYTES`; null: not set. */
  readonly diskBytes: number | null;
  /** Embedded server's data folder; null: elsewhere. */
  readonly folder: string | null;
}

export type DiskSpace =
  | {
      readonly isKnown: true;
      readonly sizeBytes: number;
      readonly freeBytes: number;
      /** `setting`: free is the setting minus the database. */
      readonly source: 'setting' | 'folder';
    }
  | { readonly isKnown: false; readonly reason: string };

export async function readDiskSpace({ diskBytes, folder }: DiskPlace, databaseBytes: number): Promise<DiskSpace> {
  const freeBytes = Math.max(0, (diskBytes ?? 0) - databaseBytes);
  if (diskBytes !== null) return { isKnown: true, sizeBytes: diskBytes, freeBytes, source: 'setting' };
  if (folder === null)
    return {
      isKnown: false,
      reason:
        'Postgres does not report the free space of its disk. Set DATABASE_DISK_BYTES to the size of that disk',
    };
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { isKnown: true, sizeBytes: blocks * bsize, freeBytes: bavail * bsize, source: 'folder' };
  } catch (error) {
    return { isKnown: false, reason: `The disk of ${folder} could not be read here: ${errorText(error)}` };
  }
}

/** One row per table and hour, kept for a day. */
const WHOLE = '';
const TABLES_MAX = 200;
const KEPT_HOURS = 26;
const BACK_HOURS = 24.5;

export async function sampleTables(database: Database): Promise<void> {
  const [known] = await database.query(
    sql`SELECT FROM table_sizes_hourly WHERE table_name = ${WHOLE} AND hour = date_trunc('hour', now())`,
  );
  if (known !== undefined) return;
  const { tables, databaseBytes, away } = await readTableSizes(database);
  // Missing data would look like growth later.
  if (away.length > 0) return;
  const largest = tables.slice(0, TABLES_MAX);
  const sampled = [
    { table: WHOLE, bytes: databaseBytes },
    ...largest.map(({ table, heapBytes, indexBytes }) => ({ table, bytes: heapBytes + indexBytes })),
  ].toSorted((a, b) => a.table.localeCompare(b.table));
  await database.query(
    sql`INSERT INTO table_sizes_hourly (table_name, hour, bytes)
     SELECT name, date_trunc('hour', now()), bytes FROM unnest(${sampled.map(({ table }) => table)}::text[], ${sampled.map(({ bytes }) => bytes)}::bigint[]) AS sampled (name, bytes)
     ON CONFLICT (table_name, hour) DO NOTHING`,
  );
  await database.query(
    sql`DELETE FROM table_sizes_hourly WHERE hour < now() - make_interval(hours => ${KEPT_HOURS})`,
  );
}

interface FormerSize {
  readonly bytes: number;
  readonly secondsAgo: number;
}

/** A day ago, or the oldest sample. */
async function readFormerSizes(database: Pick<Database, 'query'>) {
  const rows = await database.query<FormerSize & { table: string }>(
    sql`SELECT DISTINCT ON (table_name) table_name AS "table", bytes, extract(epoch FROM now() - sampled_at)::float8 AS "secondsAgo"
       FROM table_sizes_hourly WHERE sampled_at > now() - ${BACK_HOURS} * interval '1 hour' ORDER BY table_name, hour`,
  );
  const tables = new Map(rows.map(({ table, bytes, secondsAgo }) => [table, { bytes, secondsAgo }]));
  return { database: tables.get(WHOLE) ?? null, tables };
}

interface TableSize {
  readonly table: string;
  /** At the last autovacuum; null before. */
  readonly rows: number | null;
  /** With TOAST. */
  readonly heapBytes: number;
  readonly indexBytes: number;
  readonly partitions: number;
}

interface StorageSizes {
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
