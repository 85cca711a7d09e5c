import type { ChainRegistry } from '@chainstead/chains';
import type { DiskPlace, SetAsideWork } from '@chainstead/db';
import { type ClusterSummary, isEmbeddedServer, type StorageReport } from '@chainstead/db/server';
import type { ChainStatus } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';

export function renderTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const texts = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)),
  );
  const widths = header.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => (row[column] ?? '').length)),
  );
  const isNumber = header.map(
    (_title, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${[line(header), ...texts.map(line)].join('\n')}\n`;
}

/** From the configuration, the ingest process, or its id. */
export function chainName(
  { chainId, key }: Pick<ChainStatus, 'chainId' | 'key'>,
  registry: ChainRegistry,
): string {
  return registry.find(chainId)?.key ?? key ?? String(chainId);
}

export function renderSetAside(work: readonly SetAsideWork[]): string[] {
  if (work.length === 0) return [];
  const lines = work.map(
    ({ name, crashes, crashedAt, reason }) =>
      `    ${name}: ${reason ?? `ended the process ${crashes} times, last at ${crashedAt.toISOString()}`}`,
  );
  return [`${['quarantined', ...lines].join('\n')}\n`];
}

export function setAsideJson(work: readonly SetAsideWork[]): readonly Readonly<Record<string, unknown>>[] {
  return work.map(({ name, crashes, crashedAt, reason }) => ({
    ...{ work: name, crashes, crashed_at: crashedAt.toISOString() },
    ...(reason !== null && { reason }),
  }));
}

const TABLES_MAX = 12;

export function renderCluster(cluster: ClusterSummary | null): string[] {
  if (cluster === null) return [];
  const { nodes, tables, away, waiting } = cluster;
  const lines = [
    ...nodes.map(({ node, shards, bytes }) => `${node}: ${shards} shards, ${sizeText(bytes)}`),
    ...away.map(({ node, reason }) => `${node} does not respond and is not counted: ${reason.trim()}`),
    ...tables
      .slice(0, TABLES_MAX)
      .map(
        ({ table, shards, bytes, skew }) =>
          `${table}: ${shards} shards, ${sizeText(bytes)}, the largest ${skew.toFixed(2)} times the average`,
      ),
  ];
  const more = tables.length - TABLES_MAX;
  if (more > 0) lines.push(`and ${more} smaller tables`);
  if (waiting.length > 0) lines.push(`not distributed yet (run "chainstead distribute"): ${waiting.join(', ')}`);
  return [`${['cluster', ...lines.map((line) => `    ${line}`)].join('\n')}\n`];
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1_024)), UNITS.length - 1);
  const value = bytes / 1_024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`;
}

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
