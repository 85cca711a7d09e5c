/** Plans the distribution. Read-only. */

import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { MIGRATIONS_FOLDER, pendingMigrations, readMigrations } from '../migrations/schema-state.ts';
import { rawSql, sql } from '../sql.ts';
import type { TablePlacement } from '../tables/table-storage.ts';
import { checkCluster, requestFromWorkers } from './check-cluster.ts';
import { readLayout } from './read-layout.ts';
import { isSpread, TABLE_PLACEMENTS } from './table-placements.ts';

export interface PlannedTable {
  readonly table: string;
  readonly placement: Exclude<TablePlacement, { readonly kind: 'local' }>;
  /** `empty`: distributed, but the coordinator's old copy is still on disk. */
  readonly work: 'distribute' | 'empty' | 'none';
  /** Coordinator's disk, with indexes. */
  readonly bytes: number;
  /** Counted if that is fast, otherwise estimated. */
  readonly rows: number;
  readonly isCounted: boolean;
}

export interface DistributionPlan {
  /** Tables that pages join come first: an interrupted plan leaves no slow queries. */
  readonly tables: readonly PlannedTable[];
  readonly warnings: readonly string[];
}

const COUNT_BYTES_MAX = 16 * 1024 * 1024;

/** @throws {DatabaseError} CITUS_…, SCHEMA_OUTDATED */
export async function planDistribution(database: Database): Promise<DistributionPlan> {
  const layout = await checkCluster(database);
  await requireSchema(database);
  const held = await readHeld(database);
  const planned: PlannedTable[] = [];
  for (const { table, placement } of spreadTables()) {
    const own = held.get(table);
    if (own === undefined) continue;
    const done = own.heap > 0 ? 'empty' : 'none';
    const work = layout.tables.has(table) ? done : 'distribute';
    planned.push({ table, placement, work, bytes: own.bytes, ...(await countRows(database, table, work, own)) });
  }
  refuseForeign(planned, held);
  return { tables: planned, warnings: await requestFromWorkers(database) };
}

/** Not distributed yet; empty if no table is. */
export async function waitingTables(database: Pick<Database, 'query'>): Promise<readonly string[]> {
  if (!(await isSpread(database))) return [];
  const layout = await readLayout(database);
  return spreadTables()
    .map(({ table }) => table)
    .filter((table) => layout?.tables.has(table) !== true);
}

function spreadTables(): readonly Pick<PlannedTable, 'table' | 'placement'>[] {
  const all = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
    placement === undefined || placement.kind === 'local' ? [] : [{ table, placement }],
  );
  return all.toSorted(
    (a, b) => b.placement.kind.localeCompare(a.placement.kind) || a.table.localeCompare(b.table),
  );
}

async function requireSchema(database: Database): Promise<void> {
  const pending = await pendingMigrations(database, await readMigrations(MIGRATIONS_FOLDER));
  if (pending.length > 0)
    throw new DatabaseError({
      code: 'SCHEMA_OUTDATED',
      message: `The tables can't be distributed yet: ${pending.length} migrations are pending`,
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
  readonly isOwn: boolean;
}

async function readHeld(database: Database): Promise<ReadonlyMap<string, Held>> {
  const rows = await database.query<Held>(
    sql`SELECT held.relname AS name, sum(pg_total_relation_size(part.oid))::float8 AS bytes, sum(pg_relation_size(part.oid))::float8 AS heap,
         sum(greatest(part.reltuples, 0))::float8 AS estimate, pg_has_role(held.relowner, 'USAGE') AS "isOwn"
       FROM pg_class AS held
         CROSS JOIN LATERAL (SELECT relid AS oid FROM pg_partition_tree(held.oid) UNION SELECT held.oid) AS tree
         JOIN pg_class AS part ON part.oid = tree.oid
      WHERE held.relkind IN ('r', 'p') AND NOT held.relispartition AND held.relname = ANY(${Object.keys(TABLE_PLACEMENTS)}::text[]) AND held.relnamespace = current_schema()::regnamespace
      GROUP BY held.oid, held.relname, held.relowner`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}

async function countRows(
  database: Database,
  table: string,
  work: PlannedTable['work'],
  { heap, estimate }: Held,
) {
  if (work !== 'distribute') return { rows: 0, isCounted: true };
  if (heap > COUNT_BYTES_MAX) return { rows: estimate, isCounted: false };
  const [counted] = await database.query<{ rows: number }>(sql`SELECT count(*) AS rows FROM ${rawSql(table)}`);
  return { rows: counted?.rows ?? 0, isCounted: true };
}

function refuseForeign(planned: readonly PlannedTable[], held: ReadonlyMap<string, Held>): void {
  const foreign = planned.filter(({ table, work }) => work !== 'none' && held.get(table)?.isOwn !== true);
  if (foreign.length === 0) return;
  throw new DatabaseError({
    code: 'CITUS_NOT_OWNER',
    message: `The tables can't be distributed: this role does not own ${foreign.map(({ table }) => table).join(', ')}`,
    facts: { tables: foreign.map(({ table }) => table) },
    remedy: 'Run "chainstead distribute" as the role that runs the migrations',
    retryable: false,
  });
}
