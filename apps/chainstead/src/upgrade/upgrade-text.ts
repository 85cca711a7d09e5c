import { statfs } from 'node:fs/promises';
import { type Database, sql } from '@chainstead/db';
import {
  findHeldTables,
  findObstacles,
  type HeldTable,
  type MigrationsPlan,
  obstacleOf,
  type PlannedMigration,
  POSTGRES_MAJOR_MIN,
  planMigrations,
  type UpgradeObstacle,
} from '@chainstead/db/server';
import { planUpgradeWork, type UpgradeWork } from '@chainstead/sync/ingest';
import type { Configuration, ConfigurationWarning } from '../configuration/index.ts';
import { type ConnectedProcess, readConnectedProcesses } from '../start/connected-processes.ts';
import { renderTable, sizeText } from '../text/text-table.ts';

export function renderUpgrade(plan: UpgradePlan): string {
  const { disk, work } = plan;
  const free = disk.free === null ? 'free space on the server is unknown' : `${sizeText(disk.free)} are free`;
  const fills = work.fills.map(({ chain, dataset, blocks }) => [chain, dataset, blocks]);
  const sections = [
    renderMigrations(plan),
    renderBuilds(plan),
    fills.length === 0
      ? ''
      : `New datasets, backfilled from your nodes:\n${renderTable(['chain', 'dataset', 'blocks'], fills)}`,
    disk.needed === 0 ? '' : `Disk: about ${sizeText(disk.needed)} more during the upgrade; ${free}.\n`,
    renderRemarks(plan),
    plan.obstacles.map(({ code, message, remedy }) => `✗ ${message}. ${remedy} [${code}]\n`).join(''),
    `${verdictOf(plan)}\n`,
  ];
  return sections.filter((text) => text !== '').join('\n');
}

export function verdictOf(plan: UpgradePlan): string {
  const { obstacles, migrations, version } = plan;
  if (obstacles.length > 0)
    return `The upgrade to ${version} would fail: ${obstacles.length === 1 ? 'one problem' : `${obstacles.length} problems`} must be fixed first.`;
  if (isNothingToDo(plan)) return `Nothing to do: the database matches version ${version}.`;
  const seconds = migrations.pending.reduce((sum, one) => sum + one.seconds, 0);
  return migrations.pending.length === 0
    ? `Version ${version} starts immediately. The work above runs in the background.`
    : `Version ${version} migrates in about ${durationText(seconds)} when it starts. The rest runs in the background.`;
}

function isNothingToDo({ migrations, work: { builds, fills } }: UpgradePlan): boolean {
  return migrations.pending.length + builds.length + fills.length === 0;
}

export function upgradeJson(plan: UpgradePlan): Readonly<Record<string, unknown>> {
  const { version, server, migrations, work, keys, processes, held, disk, obstacles } = plan;
  return {
    version,
    would_fail: obstacles.length > 0,
    nothing_to_do: obstacles.length === 0 && isNothingToDo(plan),
    obstacles,
    postgres: { version: server.version, oldest_supported: server.majorMin, embedded: server.isEmbedded },
    migrations: {
      applied: migrations.applied,
      seconds: rounded(migrations.pending.reduce((sum, { seconds }) => sum + seconds, 0)),
      pending: migrations.pending.map(({ name, summary, seconds, bytes, locks, steps }) => ({
        ...{ name, summary, seconds: rounded(seconds), bytes: Math.round(bytes), locks },
        rewrites: steps.flatMap(({ effect, table }) => (effect.kind === 'rewrite' && table ? [table.name] : [])),
        left_out: leftOutOf(steps),
      })),
    },
    rebuilds: work.builds.map(({ chainId, state, dataset, version: next, builtVersion, rows, seconds }) => ({
      ...{ chain_id: chainId, state, dataset, version: next, built_version: builtVersion },
      ...{ rows: Math.round(rows), seconds: rounded(seconds) },
    })),
    new_datasets: work.fills.map(({ chainId, ...fill }) => ({ chain_id: chainId, ...fill })),
    configuration: keys,
    processes,
    held,
    disk: { needed_bytes: Math.round(disk.needed), free_bytes: disk.free },
  };
}

function renderMigrations({ migrations: { applied, pending } }: UpgradePlan): string {
  if (pending.length === 0) return `Migrations: none, all ${applied} are applied.\n`;
  const rows = pending.map((one) => [one.name, durationText(one.seconds), locksText(one), one.summary]);
  const leftOut = pending.flatMap(({ steps }) => leftOutOf(steps));
  const later =
    leftOut.length === 0
      ? ''
      : `Not built on large tables (run "chainstead indexes"): ${[...new Set(leftOut)].join(', ')}\n`;
  return `Migrations at the start, ${pending.length} of ${applied + pending.length}:\n${renderTable(['name', 'duration', 'locks', 'change'], rows)}${later}`;
}

function locksText({ locks }: PlannedMigration): string {
  const of = (lock: string): string => locks.flatMap((one) => (one.lock === lock ? [one.table] : [])).join(', ');
  const [all, writes] = [of('all'), of('writes')];
  const parts = [all === '' ? '' : `all of ${all}`, writes === '' ? '' : `writes to ${writes}`];
  return parts.filter((part) => part !== '').join('; ') || 'none';
}

function renderBuilds({ work: { builds } }: UpgradePlan): string {
  if (builds.length === 0) return '';
  const rows = builds.map(({ chainId, state, version, builtVersion, rows: count, seconds }) => [
    String(chainId),
    state,
    builtVersion === null ? 'new' : `version ${builtVersion} to ${version}`,
    Math.round(count),
    durationText(seconds),
  ]);
  return `Projections built from stored rows in the background:\n${renderTable(['chain', 'projection', 'reason', 'rows', 'duration'], rows)}`;
}

function renderRemarks({ keys, processes, held, server }: UpgradePlan): string {
  const lines = [
    `Postgres ${server.version}${server.isEmbedded ? ', embedded' : ''}; ${server.majorMin} or newer is supported.`,
    ...keys.map(({ message }) => `Configuration: ${message}`),
    ...held.map(
      ({ table, pid, application, seconds }) =>
        `${table} has been locked by ${application} (pid ${pid}) for ${durationText(seconds)}. A migration waits for it for up to ten minutes.`,
    ),
    ...(processes.length === 0 ? [] : [`Connected now: ${processes.map(({ name }) => name).join(', ')}.`]),
  ];
  return `${lines.join('\n')}\n`;
}

function leftOutOf(steps: PlannedMigration['steps']): string[] {
  return steps.flatMap(({ effect, isLeftOut }) => (isLeftOut && effect.index ? [effect.index.name] : []));
}

const UNITS = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3_600 },
  { unit: 'min', seconds: 60 },
] as const;

/** `under 1 s`, `40 s`, `3 min`, `2 h`. */
function durationText(seconds: number): string {
  if (seconds < 1) return 'under 1 s';
  const found = UNITS.find((one) => seconds >= 2 * one.seconds);
  return found === undefined ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / found.seconds)} ${found.unit}`;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

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
interface PlannedDisk {
  readonly needed: number;
  /** Disk of the embedded Postgres; null: unknown for another server. */
  readonly free: number | null;
}

interface UpgradePlanOptions {
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
