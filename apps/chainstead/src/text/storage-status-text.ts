import type { DiskPlace } from '@chainstead/db';
import { isEmbeddedServer, type StorageReport } from '@chainstead/db/server';
import type { Configuration } from '../configuration/index.ts';

/** DATABASE_DISK_BYTES, or this machine for the embedded server, whose URL the processes of roles receive. */
export async function diskPlaceOf({ database }: Pick<Configuration, 'database'>): Promise<DiskPlace> {
  const { diskBytes, dataDirectory, url } = database;
  const isEmbedded = url === null || (await isEmbeddedServer(dataDirectory, url));
  return { diskBytes, folder: isEmbedded ? dataDirectory : null };
}

export function renderStorage({ databaseBytes, bytesPerDay, disk, daysLeft, away }: StorageReport): string[] {
  const growth = bytesPerDay === null ? 'growth unknown' : `${gigabytes(bytesPerDay)} per day`;
  const free = disk.isKnown
    ? `${gigabytes(disk.freeBytes)} of ${gigabytes(disk.sizeBytes)} free`
    : `disk unknown: ${disk.reason}`;
  const left = daysLeft === null ? '' : `, full in about ${Math.floor(daysLeft)} days`;
  const missing = away.length === 0 ? '' : `\n    without ${away.join(', ')} (no response)`;
  return [`database\n    ${gigabytes(databaseBytes)}, ${growth}; ${free}${left}${missing}\n`];
}

export function storageJson(report: StorageReport): Readonly<Record<string, unknown>> {
  const { databaseBytes, bytesPerDay, disk, daysLeft, away, tables } = report;
  return {
    database_bytes: databaseBytes,
    bytes_per_day: bytesPerDay,
    disk_bytes: disk.isKnown ? disk.sizeBytes : null,
    disk_free_bytes: disk.isKnown ? disk.freeBytes : null,
    disk_unknown: disk.isKnown ? null : disk.reason,
    days_left: daysLeft,
    away,
    tables: tables.map((table) => ({
      table: table.table,
      rows_about: table.rows,
      heap_bytes: table.heapBytes,
      index_bytes: table.indexBytes,
      bytes_per_day: table.bytesPerDay,
    })),
  };
}

const GIGABYTE = 1_000_000_000;

function gigabytes(bytes: number): string {
  return `${(bytes / GIGABYTE).toFixed(2)} GB`;
}
