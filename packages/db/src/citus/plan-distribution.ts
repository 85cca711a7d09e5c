/** What is to be done until each table lies where the program has it. Reads only. */
import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { MIGRATIONS_FOLDER } from '../migrate.ts';
import { readMigrations } from '../read-migrations.ts';
import { pendingMigrations } from '../schema-state.ts';
import { askWorkers, checkCluster } from './check-cluster.ts';
import { isSpread } from './is-spread.ts';
import { readLayout } from './read-layout.ts';
import { TABLE_PLACEMENTS, type TablePlacement } from './table-placements.ts';

/** A table that doesn't stay on the coordinator alone. */
export interface PlannedTable {
  readonly table: string;
  readonly placement: Exclude<TablePlacement, { readonly kind: 'local' }>;
  /** `distribute`; `empty`: it is distributed, and what the coordinator had of it before is still on its disk; `none`: all is done. */
  readonly work: 'distribute' | 'empty' | 'none';
  /** On the coordinator's disk, with indexes. */
  readonly bytes: number;
  /** There, to be moved: counted where that is quick, else the planner's estimate. */
  readonly rows: number;
  readonly isCounted: boolean;
}

export interface DistributionPlan {
  /** In the order of the work: what pages join first, so that a plan that was broken off leaves nothing that is slow. */
  readonly tables: readonly PlannedTable[];
  /** Sentences about what works, but could be better. */
  readonly warnings: readonly string[];
}

/** Larger tables are not counted. Bytes. */
const COUNT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * @throws {DatabaseError} what the tables can't be distributed for: CITUS_…, SCHEMA_OUTDATED
 */
export async function planDistribution(database: Database): Promise<DistributionPlan> {
  const layout = await checkCluster(database);
  await requireSchema(database);
  const held = await readHeld(database);
  const planned: PlannedTable[] = [];
  for (const { table, placement } of spreadTables()) {
    const found = held.get(table);
    if (found === undefined) continue;
    const work = layout.tables.has(table) ? (found.heap > 0 ? 'empty' : 'none') : 'distribute';
    planned.push({ table, placement, work, bytes: found.bytes, ...(await countRows(database, table, work, found)) });
  }
  refuseForeign(planned, held);
  return { tables: planned, warnings: await askWorkers(database) };
}

/** Tables that wait for `chainstead distribute`, since a migration made them; none where nothing is distributed. */
export async function waitingTables(database: Pick<Database, 'query'>): Promise<readonly string[]> {
  if (!(await isSpread(database))) return [];
  const layout = await readLayout(database);
  return spreadTables()
    .map(({ table }) => table)
    .filter((table) => layout?.tables.has(table) !== true);
}

/** Reference tables, then those in shards, by name. */
function spreadTables(): readonly Pick<PlannedTable, 'table' | 'placement'>[] {
  const all = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
    placement === undefined || placement.kind === 'local' ? [] : [{ table, placement }],
  );
  return all.toSorted((a, b) => b.placement.kind.localeCompare(a.placement.kind) || a.table.localeCompare(b.table));
}

async function requireSchema(database: Database): Promise<void> {
  const pending = await pendingMigrations(database, await readMigrations(MIGRATIONS_FOLDER));
  if (pending.length > 0)
    throw new DatabaseError({
      code: 'SCHEMA_OUTDATED',
      message: `The tables can't be distributed yet: ${pending.length} migrations are still to be applied`,
      facts: { migrations: pending.map(({ name }) => name) },
      remedy: 'Run "chainstead migrate" first',
      retryable: false,
    });
}

interface Held {
  readonly name: string;
  readonly bytes: number;
  readonly heap: number;
  readonly estimate: number;
  readonly is_own: boolean;
}

/** What the coordinator itself has of each table, partitions included. */
async function readHeld(database: Database): Promise<ReadonlyMap<string, Held>> {
  const rows = await database.query<Held>(
    `SELECT held.relname AS name, sum(pg_total_relation_size(part.oid))::float8 AS bytes, sum(pg_relation_size(part.oid))::float8 AS heap,
         sum(greatest(part.reltuples, 0))::float8 AS estimate, pg_has_role(held.relowner, 'USAGE') AS is_own
       FROM pg_class AS held
         CROSS JOIN LATERAL (SELECT relid AS oid FROM pg_partition_tree(held.oid) UNION SELECT held.oid) AS tree
         JOIN pg_class AS part ON part.oid = tree.oid
      WHERE held.relkind IN ('r', 'p') AND NOT held.relispartition AND held.relname = ANY($1::text[]) AND held.relnamespace = current_schema()::regnamespace
      GROUP BY held.oid, held.relname, held.relowner`,
    [Object.keys(TABLE_PLACEMENTS)],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

async function countRows(
  database: Database,
  table: string,
  work: PlannedTable['work'],
  { heap, estimate }: Held,
): Promise<Pick<PlannedTable, 'rows' | 'isCounted'>> {
  if (work !== 'distribute') return { rows: 0, isCounted: true };
  if (heap > COUNT_BYTES_MAX) return { rows: estimate, isCounted: false };
  const [counted] = await database.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
  return { rows: counted?.rows ?? 0, isCounted: true };
}

function refuseForeign(planned: readonly PlannedTable[], held: ReadonlyMap<string, Held>): void {
  const foreign = planned.filter(({ table, work }) => work !== 'none' && held.get(table)?.is_own !== true);
  if (foreign.length === 0) return;
  throw new DatabaseError({
    code: 'CITUS_NOT_OWNER',
    message: `The tables can't be distributed: this role does not own ${foreign.map(({ table }) => table).join(', ')}`,
    facts: { tables: foreign.map(({ table }) => table) },
    remedy: 'Run "chainstead distribute" with the role that runs the migrations',
    retryable: false,
  });
}
