import { errorText, Gauge, type Logger, type Registry } from '@chainstead/core';
import type { Database } from '../database.ts';
import { readWithin } from '../read-within.ts';
import { sql } from '../sql.ts';

export interface SizeMetricsOptions {
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

export function measureSizes({ registry, database, logger, keptMs = KEPT_MS }: SizeMetricsOptions): void {
  let reading: Promise<void> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  const refresh = (): Promise<void> => {
    if (performance.now() - readAt < keptMs) return Promise.resolve();
    reading ??= readAll().finally(() => {
      reading = null;
    });
    return reading;
  };
  const gauge = (name: string, help: string, labelNames: readonly string[]): Gauge =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry], collect: refresh });
  const whole = gauge('chainstead_database_size_bytes', 'Size of the database on disk in bytes, without WAL', []);
  const tables = gauge(
    'chainstead_table_size_bytes',
    'Size of a table in bytes, including indexes and all partitions',
    ['table'],
  );
  const partitions = gauge('chainstead_table_partitions', 'Number of partitions of a partitioned table', ['table']);

  async function readAll(): Promise<void> {
    try {
      type Size = { readonly name: string | null; readonly bytes: number; readonly partitions: number };
      const [[size] = [], sizes = []] = await readWithin<Size>(database, READ_MS, [DATABASE, TABLES]);
      readAt = performance.now();
      whole.set(size?.bytes ?? 0);
      for (const metric of [tables, partitions]) metric.reset();
      for (const { name, bytes, partitions: parts } of sizes) {
        const table = name ?? '';
        tables.set({ table }, bytes);
        if (parts > 0) partitions.set({ table }, parts);
      }
    } catch (error) {
      // The last values stay: another metric reports the outage.
      logger.debug({ reason: errorText(error) }, 'Sizes of tables could not be read');
    }
  }
}
