import type { Database } from '../database.ts';
import { rawSql, type Sql, sql } from '../sql.ts';
import type { MigrationsPlan, PlannedStep } from './plan-migrations.ts';

export interface UpgradeObstacle {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** A table locked by a session that migrations would wait for. */
export interface HeldTable {
  readonly table: string;
  readonly pid: number;
  readonly application: string;
  /** Age of the session's transaction. */
  readonly seconds: number;
}

export async function findObstacles(
  database: Pick<Database, 'query'>,
  plan: MigrationsPlan,
): Promise<UpgradeObstacle[]> {
  const steps = plan.pending.flatMap(({ steps: ofMigration }) => ofMigration);
  return [
    ...(await rightObstacles(database, plan, steps)),
    ...(await rowObstacles(database, steps)),
    ...(await viewObstacles(database, steps)),
  ];
}

/** Changing needs ownership, creating the CREATE privilege. */
async function rightObstacles(
  database: Pick<Database, 'query'>,
  plan: MigrationsPlan,
  steps: readonly PlannedStep[],
): Promise<UpgradeObstacle[]> {
  if (plan.pending.length === 0) return [];
  const [role] = await database.query<{ name: string; mayCreate: boolean; schema: string }>(
    sql`SELECT current_user::text AS name, current_schema() AS schema, has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate"`,
  );
  const remedy =
    'Run "chainstead migrate" as the role that owns the tables. Chainstead itself can run with fewer privileges';
  const changing = steps.filter(({ effect }) => effect.kind !== 'change-rows');
  const strangers = new Set(changing.flatMap(({ table }) => (table?.isOwned === false ? table.name : [])));
  const obstacles: UpgradeObstacle[] = [];
  if (role?.mayCreate === false)
    obstacles.push({
      code: 'UPGRADE_NEEDS_RIGHTS',
      message: `The role ${role.name} can't create objects in the schema ${role.schema}, which migrations do`,
      remedy,
    });
  if (strangers.size > 0)
    obstacles.push({
      code: 'UPGRADE_NEEDS_OWNER',
      message: `The role ${role?.name ?? ''} does not own ${[...strangers].join(', ')}, which migrations change`,
      remedy,
    });
  return obstacles;
}

async function rowObstacles(
  database: Pick<Database, 'query'>,
  steps: readonly PlannedStep[],
): Promise<UpgradeObstacle[]> {
  const obstacles: UpgradeObstacle[] = [];
  const needing = steps.filter(({ effect }) => effect.needsEmpty === true);
  for (const table of new Set(needing.flatMap((step) => step.table?.name ?? []))) {
    const [row] = await database.query<{ holds: boolean }>(
      sql`SELECT EXISTS (SELECT FROM "${rawSql(table)}") AS holds`,
    );
    if (row?.holds === true)
      obstacles.push({
        code: 'UPGRADE_NEEDS_EMPTY_TABLE',
        message: `The table ${table} has rows, but a migration adds a required column without a default`,
        remedy: `Stop Chainstead and run DELETE FROM ${table}. Its rows are rebuilt automatically`,
      });
  }
  return obstacles;
}

/** Postgres refuses to drop what views depend on. */
async function viewObstacles(
  database: Pick<Database, 'query'>,
  steps: readonly PlannedStep[],
): Promise<UpgradeObstacle[]> {
  const dropped = steps.flatMap(({ effect: { kind, object } }) =>
    object !== null && (kind === 'drop-view' || kind === 'drop-table') ? [object] : [],
  );
  if (dropped.length === 0) return [];
  const rows = await database.query<{ view: string; uses: string }>(dependentsOf(dropped));
  return rows.map(({ view, uses }) => ({
    code: 'UPGRADE_BLOCKED_BY_VIEW',
    message: `The view ${view} reads ${uses}, which a migration drops`,
    remedy: `Save its definition (SELECT pg_get_viewdef('${view}')), drop it, upgrade, then create it again`,
  }));
}

/** Readable without USAGE on their schema. */
function dependentsOf(dropped: readonly string[]): Sql {
  const names = sql`${dropped}::text[]`;
  return sql`
  WITH dropped AS (
    SELECT own.oid FROM pg_class AS own JOIN pg_namespace AS place ON place.oid = own.relnamespace
     WHERE place.nspname || '.' || own.relname = ANY(${names})
        OR place.nspname = current_schema() AND own.relname = ANY(${names}))
  SELECT DISTINCT rule.ev_class::regclass::text AS view, used.refobjid::regclass::text AS uses
    FROM pg_depend AS used
      JOIN pg_rewrite AS rule ON rule.oid = used.objid
   WHERE used.classid = 'pg_rewrite'::regclass AND used.refclassid = 'pg_class'::regclass AND used.deptype = 'n'
     AND used.refobjid IN (SELECT oid FROM dropped) AND rule.ev_class NOT IN (SELECT oid FROM dropped) ORDER BY 1, 2`;
}

const HELD_SECONDS_MIN = 2;

export async function findHeldTables(
  database: Pick<Database, 'query'>,
  plan: MigrationsPlan,
): Promise<HeldTable[]> {
  const tables = [...new Set(plan.pending.flatMap(({ locks }) => locks.map(({ table }) => table)))];
  if (tables.length === 0) return [];
  return database.query<HeldTable>(
    sql`SELECT DISTINCT own.relname AS table, held.pid, coalesce(nullif(session.application_name, ''), 'unnamed') AS application,
            extract(epoch FROM now() - session.xact_start)::float8 AS seconds
       FROM pg_locks AS held
         JOIN pg_class AS own ON own.oid = held.relation
         JOIN pg_stat_activity AS session ON session.pid = held.pid
      WHERE held.granted AND held.pid <> pg_backend_pid() AND own.relnamespace = current_schema()::regnamespace
        AND own.relname = ANY(${tables}::text[]) AND session.xact_start < now() - make_interval(secs => ${HELD_SECONDS_MIN})
      ORDER BY 1, 2`,
  );
}
