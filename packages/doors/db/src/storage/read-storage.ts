import type { Database } from '../database.ts';
import { type DiskPlace, type DiskSpace, readDiskSpace } from './disk-space.ts';
import { type FormerSize, readFormerSizes } from './table-samples.ts';
import { readTableSizes, type TableSize } from './table-sizes.ts';

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

export interface StoredTable extends TableSize {
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
