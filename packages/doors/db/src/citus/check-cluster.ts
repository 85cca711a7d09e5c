import { errorText } from '@chainstead/core';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { sql } from '../sql.ts';
import { type ClusterLayout, readLayout, type TableLayout } from './read-layout.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';

const CITUS_MAJOR_MIN = 13;

/** Read-only. @throws {DatabaseError} codes that begin with CITUS_ */
export async function checkCluster(database: Pick<Database, 'query'>): Promise<ClusterLayout> {
  const layout = await readLayout(database);
  if (layout === null)
    throw new DatabaseError({
      code: 'CITUS_MISSING',
      message: "The tables can't be distributed: this database lacks the Citus extension",
      remedy:
        "Install Citus 13 on each server, set shared_preload_libraries = 'citus', restart Postgres, and run CREATE EXTENSION citus in this database on each server",
      retryable: false,
    });
  if (Number.parseInt(layout.version, 10) < CITUS_MAJOR_MIN)
    throw new DatabaseError({
      code: 'CITUS_TOO_OLD',
      message: `The tables can't be distributed: this database has Citus ${layout.version}, but Chainstead needs ${CITUS_MAJOR_MIN} or newer`,
      facts: { version: layout.version },
      remedy: 'Install a newer Citus version on each server, then run ALTER EXTENSION citus UPDATE',
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
      remedy: 'Point DATABASE_URL at the coordinator',
      retryable: false,
    });
  if (!nodes.some(({ holdsShards, isActive }) => holdsShards && isActive))
    throw new DatabaseError({
      code: 'CITUS_NO_WORKERS',
      message: "The tables can't be distributed: the cluster has no node that accepts shards",
      remedy: "Add the workers on the coordinator: SELECT citus_add_node('worker-1', 5432)",
      retryable: false,
    });
  if (!nodes.some(({ isCoordinator }) => isCoordinator))
    throw new DatabaseError({
      code: 'CITUS_COORDINATOR_UNNAMED',
      message:
        "The tables can't be distributed: the coordinator has no address for workers, so its local tables could not be joined with reference tables",
      remedy: "Set an address that workers can reach: SELECT citus_set_coordinator_host('coordinator', 5432)",
      retryable: false,
    });
}

/** Statements are tested only with the expected placements. */
function checkLayout({ tables }: ClusterLayout): void {
  const wrong = [...tables.values()].filter(({ table, kind, column }) => {
    const placement = TABLE_PLACEMENTS[table];
    const isOther = placement?.kind !== kind || (placement.kind === 'distributed' && placement.column !== column);
    return placement !== undefined && isOther;
  });
  if (wrong.length === 0) return;
  throw new DatabaseError({
    code: 'CITUS_OTHER_LAYOUT',
    message: `Tables have another distribution than this version of Chainstead expects: ${wrong.map(describe).join('; ')}`,
    facts: { tables: wrong.map(({ table }) => table) },
    remedy:
      'Move each table back to the coordinator with SELECT undistribute_table(…), then run "chainstead distribute" again',
    retryable: false,
  });
}

function describe({ table, kind, column }: TableLayout): string {
  const placement = TABLE_PLACEMENTS[table];
  const is = column === null ? `a ${kind} table` : `by ${column}`;
  const shouldBe = placement?.kind === 'distributed' ? `by ${placement.column}` : `a ${placement?.kind} table`;
  return `${table} is ${is}, not ${shouldBe}`;
}

/** Returns unsuitable settings as sentences. @throws {DatabaseError} CITUS_NODE_AWAY */
export async function requestFromWorkers(database: Pick<Database, 'query'>): Promise<readonly string[]> {
  const answers = await fetchAll(database);
  const away = answers.filter(({ success }) => !success);
  if (away.length > 0)
    throw new DatabaseError({
      code: 'CITUS_NODE_AWAY',
      message: `Cluster workers are unavailable: ${away.map(({ node, result }) => `${node}: ${result.trim()}`).join('; ')}`,
      facts: { nodes: away.map(({ node }) => node) },
      remedy:
        'Start the workers. Allow the role of DATABASE_URL to connect from the coordinator to this database on them without a password (pg_hba.conf, or pg_dist_authinfo on the coordinator)',
      retryable: true,
    });
  const fixed = answers.filter(({ result }) => result !== 'logical').map(({ node }) => node);
  if (fixed.length === 0) return [];
  return [
    `wal_level is not logical on ${fixed.join(', ')}: without it shards can be moved to other machines only while nothing is written to them`,
  ];
}
async function fetchAll(database: Pick<Database, 'query'>) {
  try {
    return await database.query<{ node: string; success: boolean; result: string }>(
      sql`SELECT nodename || ':' || nodeport AS node, success, result FROM run_command_on_workers('SHOW wal_level')`,
    );
  } catch (error) {
    throw new DatabaseError({
      code: 'CITUS_WORKERS_UNASKED',
      message: `The cluster workers could not be queried: ${errorText(error)}`,
      remedy:
        'Grant the role of DATABASE_URL EXECUTE on the Citus functions, or run `chainstead distribute` as the owner of the tables',
      retryable: true,
      cause: error,
    });
  }
}
