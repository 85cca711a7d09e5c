import { errorText } from '@chainstead/core';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { type ClusterLayout, readLayout, type TableLayout } from './read-layout.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';

/** The oldest that the statements are tested on. */
const CITUS_MAJOR_MIN = 13;

/**
 * Refuses what tables can't be distributed on. Reads only.
 * @returns how the database is spread
 * @throws {DatabaseError} codes that begin with CITUS_
 */
export async function checkCluster(database: Pick<Database, 'query'>): Promise<ClusterLayout> {
  const layout = await readLayout(database);
  if (layout === null)
    throw new DatabaseError({
      code: 'CITUS_MISSING',
      message: "The tables can't be distributed: this database has no extension Citus",
      remedy:
        "Install Citus 13 on each server, load it (shared_preload_libraries = 'citus', restart), and run CREATE EXTENSION citus in this database on each of them",
      retryable: false,
    });
  if (Number.parseInt(layout.version, 10) < CITUS_MAJOR_MIN)
    throw new DatabaseError({
      code: 'CITUS_TOO_OLD',
      message: `The tables can't be distributed: this database has Citus ${layout.version}, and ${CITUS_MAJOR_MIN} or newer is needed`,
      facts: { version: layout.version },
      remedy: 'Install a newer version on each server, and run ALTER EXTENSION citus UPDATE',
      retryable: false,
    });
  checkNodes(layout);
  checkLayout(layout);
  return layout;
}

function checkNodes({ onCoordinator, nodes }: ClusterLayout): void {
  if (!onCoordinator)
    throw new DatabaseError({
      code: 'CITUS_NOT_COORDINATOR',
      message: "The tables can't be distributed from here: this server is a worker of its cluster",
      remedy: 'Let DATABASE_URL lead to the coordinator',
      retryable: false,
    });
  if (!nodes.some(({ holdsShards, isActive }) => holdsShards && isActive))
    throw new DatabaseError({
      code: 'CITUS_NO_WORKERS',
      message: "The tables can't be distributed: the cluster has no node that takes shards",
      remedy: "Add the workers on the coordinator: SELECT citus_add_node('worker-1', 5432)",
      retryable: false,
    });
  if (!nodes.some(({ isCoordinator }) => isCoordinator))
    throw new DatabaseError({
      code: 'CITUS_COORDINATOR_UNNAMED',
      message:
        "The tables can't be distributed: workers don't know where the coordinator is, so its own tables could not be joined with those that lie on all nodes",
      remedy: "Name it by an address that workers reach: SELECT citus_set_coordinator_host('coordinator', 5432)",
      retryable: false,
    });
}

/** What somebody distributed in another way would make statements fail that this program is tested with. */
function checkLayout({ tables }: ClusterLayout): void {
  const wrong = [...tables.values()].filter((layout) => !isAsPlaced(layout));
  if (wrong.length === 0) return;
  throw new DatabaseError({
    code: 'CITUS_OTHER_LAYOUT',
    message: `Tables are distributed otherwise than this program has them: ${wrong.map(describe).join('; ')}`,
    facts: { tables: wrong.map(({ table }) => table) },
    remedy: 'Take each back to the coordinator with SELECT undistribute_table(…), and distribute again',
    retryable: false,
  });
}

/** Tables that the program doesn't know are others' matter. */
function isAsPlaced({ table, kind, column }: TableLayout): boolean {
  const placement = TABLE_PLACEMENTS[table];
  if (placement === undefined) return true;
  return placement.kind === kind && (placement.kind !== 'distributed' || placement.column === column);
}

function describe({ table, kind, column }: TableLayout): string {
  const placement = TABLE_PLACEMENTS[table];
  const is = column === null ? `a ${kind} table` : `by ${column}`;
  const shouldBe = placement?.kind === 'distributed' ? `by ${placement.column}` : `a ${placement?.kind} table`;
  return `${table} is ${is}, not ${shouldBe}`;
}

/**
 * Asks each worker. What is not fit, but works, is told.
 * @returns sentences
 * @throws {DatabaseError} CITUS_NODE_AWAY
 */
export async function askWorkers(database: Pick<Database, 'query'>): Promise<readonly string[]> {
  const answers = await askAll(database);
  const away = answers.filter(({ success }) => !success);
  if (away.length > 0)
    throw new DatabaseError({
      code: 'CITUS_NODE_AWAY',
      message: `Workers of the cluster can't be used: ${away.map(({ node, result }) => `${node}: ${result.trim()}`).join('; ')}`,
      facts: { nodes: away.map(({ node }) => node) },
      remedy:
        'Start them, and let the coordinator connect to this database there as the role of DATABASE_URL, without being asked for a password (pg_hba.conf, or pg_dist_authinfo on the coordinator)',
      retryable: true,
    });
  const fixed = answers.filter(({ result }) => result !== 'logical').map(({ node }) => node);
  return fixed.length === 0
    ? []
    : [
        `wal_level is not logical on ${fixed.join(', ')}: without it shards can be moved to other machines only while nothing is written to them`,
      ];
}

interface Answer {
  readonly node: string;
  readonly success: boolean;
  readonly result: string;
}

async function askAll(database: Pick<Database, 'query'>): Promise<Answer[]> {
  try {
    return await database.query<Answer>(
      `SELECT nodename || ':' || nodeport AS node, success, result FROM run_command_on_workers('SHOW wal_level')`,
    );
  } catch (error) {
    throw new DatabaseError({
      code: 'CITUS_WORKERS_UNASKED',
      message: `The workers of the cluster could not be asked: ${errorText(error)}`,
      remedy:
        "Give the role of DATABASE_URL the right to run Citus' functions, or distribute as the owner of the tables",
      retryable: true,
      cause: error,
    });
  }
}
