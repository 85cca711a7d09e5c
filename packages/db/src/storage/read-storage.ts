import type { Database } from '../database.ts';
import { type DiskPlace, type DiskSpace, readDiskSpace } from './disk-space.ts';
import { type FormerSize, readFormerSizes } from './table-samples.ts';
import { readTableSizes, type TableSize } from './table-sizes.ts';

/** What the database takes on its disk, how fast it grows, and how long that goes well. */
export interface StorageReport {
  /** The largest first. */
  readonly tables: readonly StoredTable[];
  /** Without the server's log. */
  readonly databaseBytes: number;
  /** Null while it is unknown: samples are taken by the hour, by the role `worker`. */
  readonly bytesPerDay: number | null;
  /** What the growth is told from; null where it is unknown. Seconds. */
  readonly overSeconds: number | null;
  readonly disk: DiskSpace;
  /** Until nothing is free, at this growth; null where either is unknown, or where it does not grow. */
  readonly daysLeft: number | null;
  /** Nodes of a cluster that did not answer: what lies on them is missing. */
  readonly away: readonly string[];
}

export interface StoredTable extends TableSize {
  /** Null while it is unknown. */
  readonly bytesPerDay: number | null;
}

const DAY_SECONDS = 86_400;
/** From less than that nothing is told of a day. */
const OVER_SECONDS_MIN = 3_000;

export async function readStorage(database: Pick<Database, 'query'>, place: DiskPlace): Promise<StorageReport> {
  const [{ tables, databaseBytes, away }, former] = await Promise.all([
    readTableSizes(database),
    readFormerSizes(database),
  ]);
  const disk = await readDiskSpace(place, databaseBytes);
  // What lies on a node that is away is no shrinking.
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

/** Pure. @returns bytes a day; null where the former size is too young to tell */
export function growthPerDay(bytes: number, former: FormerSize | null): number | null {
  if (former === null || former.secondsAgo < OVER_SECONDS_MIN) return null;
  return ((bytes - former.bytes) * DAY_SECONDS) / former.secondsAgo;
}

/** Pure. */
export function daysUntilFull(disk: DiskSpace, bytesPerDay: number | null): number | null {
  if (!disk.isKnown || bytesPerDay === null || bytesPerDay <= 0) return null;
  return disk.freeBytes / bytesPerDay;
}
