import { statfs } from 'node:fs/promises';
import { defineMetrics, errorText, gauge, type Logger, type Registry, readTogether } from '@chainstead/core';
import type { Database } from '../database.ts';
import { readWithin } from '../read-within.ts';
import { sql } from '../sql.ts';

interface SizeMetricsOptions {
  readonly registry: Registry;
  readonly database: Pick<Database, 'until'>;
  readonly logger: Logger;
  /** @default 60,000 */
  readonly keptMs?: number;
}

/** Reading accesses every file of the database. */
const KEPT_MS = 60_000;
const READ_MS = 1_000;

const DATABASE = sql`SELECT NULL AS name, pg_database_size(current_database())::float8 AS bytes, 0 AS partitions`;
/** Partitions count for their table. One dropped meanwhile has no size. */
const TABLES = sql`SELECT coalesce(pg_partition_root(own.oid), own.oid::regclass)::text AS name,
    coalesce(sum(pg_total_relation_size(own.oid)), 0)::float8 AS bytes, count(*) FILTER (WHERE own.relispartition)::int AS partitions
  FROM pg_class AS own WHERE own.relkind = 'r' AND own.relnamespace = current_schema()::regnamespace GROUP BY 1`;

export const createSizeMetrics = defineMetrics('chainstead', {
  databaseSizeBytes: gauge('Size of the database on disk in bytes, without WAL'),
  tableSizeBytes: gauge('Size of a table in bytes, including indexes and all partitions', ['table']),
  tablePartitions: gauge('Number of partitions of a partitioned table', ['table']),
});

export function measureSizes({ registry, database, logger, keptMs = KEPT_MS }: SizeMetricsOptions): void {
  const { databaseSizeBytes, tableSizeBytes, tablePartitions } = createSizeMetrics(registry);
  let readAt = Number.NEGATIVE_INFINITY;
  readTogether([databaseSizeBytes, tableSizeBytes, tablePartitions], async () => {
    if (performance.now() - readAt < keptMs) return;
    try {
      type Size = { readonly name: string | null; readonly bytes: number; readonly partitions: number };
      const [[size] = [], sizes = []] = await readWithin<Size>(database, READ_MS, [DATABASE, TABLES]);
      readAt = performance.now();
      databaseSizeBytes.set(size?.bytes ?? 0);
      for (const metric of [tableSizeBytes, tablePartitions]) metric.reset();
      for (const { name, bytes, partitions } of sizes) {
        const table = name ?? '';
        tableSizeBytes.set({ table }, bytes);
        if (partitions > 0) tablePartitions.set({ table }, partitions);
      }
    } catch (error) {
      // The last values stay: another metric reports the outage.
      logger.debug({ reason: errorText(error) }, 'Sizes of tables could not be read');
    }
  });
}

export const createDiskMetrics = defineMetrics('chainstead_disk', {
  freeBytes: gauge('Free bytes on the disk of the embedded Postgres. Absent if DATABASE_URL is set'),
  sizeBytes: gauge('Size in bytes of the disk of the embedded Postgres. Absent if DATABASE_URL is set'),
});

export function measureDisk(registry: Registry, folder: string, logger: Logger): void {
  const { freeBytes, sizeBytes } = createDiskMetrics(registry);
  readTogether([freeBytes, sizeBytes], async () => {
    try {
      const { bavail, blocks, bsize } = await statfs(folder);
      freeBytes.set(bavail * bsize);
      sizeBytes.set(blocks * bsize);
    } catch (error) {
      logger.debug({ folder, reason: errorText(error) }, 'Free disk space could not be read');
    }
  });
}

/** Unix milliseconds by the database's clock, which all processes share. */
export async function readTime(database: Pick<Database, 'query'>): Promise<number> {
  const [row] = await database.query<{ now: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
  );
  if (row === undefined) throw new TypeError('The database returned no time');
  return row.now;
}
