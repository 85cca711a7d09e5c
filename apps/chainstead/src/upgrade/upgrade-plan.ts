import { statfs } from 'node:fs/promises';
import { type Database, sql } from '@chainstead/db';
import {
  findHeldTables,
  findObstacles,
  type HeldTable,
  type MigrationsPlan,
  obstacleOf,
  POSTGRES_MAJOR_MIN,
  planMigrations,
  type UpgradeObstacle,
} from '@chainstead/db/server';
import { planUpgradeWork, type UpgradeWork } from '@chainstead/sync/ingest';
import type { Configuration, ConfigurationWarning } from '../configuration/index.ts';
import { type ConnectedProcess, readConnectedProcesses } from '../start/connected-processes.ts';

export interface UpgradePlan {
  readonly version: string;
  readonly server: { readonly version: string; readonly majorMin: number; readonly isEmbedded: boolean };
  readonly migrations: MigrationsPlan;
  readonly work: UpgradeWork;
  readonly keys: readonly ConfigurationWarning[];
  readonly processes: readonly ConnectedProcess[];
  readonly held: readonly HeldTable[];
  readonly disk: PlannedDisk;
  readonly obstacles: readonly UpgradeObstacle[];
}

/** Bytes. */
export interface PlannedDisk {
  readonly needed: number;
  /** Disk of the embedded Postgres; null: unknown for another server. */
  readonly free: number | null;
}

export interface UpgradePlanOptions {
  readonly database: Database;
  readonly configuration: Configuration;
  readonly warnings: readonly ConfigurationWarning[];
  readonly isEmbedded: boolean;
  readonly version: string;
}

export async function planUpgrade(options: UpgradePlanOptions): Promise<UpgradePlan> {
  const { database, configuration, warnings, isEmbedded, version } = options;
  const { migrations, refusal } = await planOrRefusal(database);
  const chains = configuration.chains.map(({ chain }) => chain);
  // This version does not know the schema: it can report nothing else.
  const work: UpgradeWork =
    refusal === null
      ? await planUpgradeWork({ database, datasets: configuration.datasets, chains })
      : { builds: [], fills: [] };
  const needed = migrations.pending.reduce((sum, { bytes }) => sum + bytes, 0);
  const disk = { needed, free: isEmbedded ? await freeBytes(configuration.database.dataDirectory) : null };
  const [server] = await database.query<{ version: string }>(
    sql`SELECT current_setting('server_version') AS version`,
  );
  return {
    version,
    server: { version: server?.version ?? '', majorMin: POSTGRES_MAJOR_MIN, isEmbedded },
    migrations,
    work,
    keys: warnings,
    processes: await readConnectedProcesses(database),
    held: await findHeldTables(database, migrations),
    disk,
    obstacles: [
      ...(refusal === null ? [] : [refusal]),
      ...(await findObstacles(database, migrations)),
      ...diskObstacles(disk),
    ],
  };
}

async function planOrRefusal(
  database: Database,
): Promise<{ readonly migrations: MigrationsPlan; readonly refusal: UpgradeObstacle | null }> {
  try {
    return { migrations: await planMigrations(database), refusal: null };
  } catch (error) {
    return { migrations: { applied: 0, pending: [] }, refusal: obstacleOf(error) };
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function diskObstacles({ needed, free }: PlannedDisk): UpgradeObstacle[] {
  if (free === null || needed <= free) return [];
  return [
    {
      code: 'UPGRADE_NEEDS_DISK',
      message: `The upgrade needs ${needed} more bytes of disk, but only ${free} are free`,
      remedy: 'Free disk space, or stop Chainstead and move DATA_DIR to a larger disk',
    },
  ];
}
