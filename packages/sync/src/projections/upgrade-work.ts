/**
 * Background work that this version would do on the database of an earlier one. Read-only, and tolerates missing
 * tables.
 */
import type { Chain } from '@chainstead/chains';
import { type Database, rawSql, sql } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { hasSubjects } from '../dataset/projection.ts';
import type { ProjectionOf } from './counted-rows.ts';
import { projectionsOf } from './projection-record.ts';

/** A projection that is built from stored rows while Chainstead runs. */
export interface PlannedBuild {
  readonly chainId: number;
  readonly state: string;
  readonly dataset: string;
  /** The version of this program, and the one in the database; null: none. */
  readonly version: number;
  readonly builtVersion: number | null;
  /** Approximate number of rows to count. */
  readonly rows: number;
  /** Approximate. */
  readonly seconds: number;
}

/** A dataset without data in the database, on a chain with other datasets: its blocks are read from nodes. */
export interface PlannedFill {
  readonly chainId: number;
  readonly chain: string;
  readonly dataset: string;
  /** Blocks that other datasets cover. */
  readonly blocks: number;
}

export interface UpgradeWork {
  readonly builds: readonly PlannedBuild[];
  readonly fills: readonly PlannedFill[];
}

export interface UpgradeWorkOptions {
  readonly database: Pick<Database, 'query'>;
  readonly datasets: readonly Dataset[];
  /** The configured chains. */
  readonly chains: readonly Chain[];
}

/**
 * Rows per second that a projection build counts, on two cores with an SSD and no other load. Builds let the chain's
 * commits run in between.
 */
const COUNTED_ROWS_PER_SECOND = 33_000;

export async function planUpgradeWork(options: UpgradeWorkOptions): Promise<UpgradeWork> {
  const tables = await existingTables(options.database);
  return {
    builds: await planBuilds(options, tables),
    fills: await planFills(options, tables),
  };
}

async function existingTables(database: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ name: string }>(
    sql`SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace`,
  );
  return new Set(rows.map(({ name }) => name));
}

async function planBuilds(
  { database, datasets }: UpgradeWorkOptions,
  tables: ReadonlySet<string>,
): Promise<PlannedBuild[]> {
  if (!tables.has('blocks')) return [];
  const chains = await database.query<{ chain_id: number }>(CHAINS_WITH_BLOCKS);
  const builds: PlannedBuild[] = [];
  for (const { chain_id: chainId } of chains) {
    const built = await builtStates(database, tables, chainId);
    for (const of of projectionsOf(datasets)) {
      const { dataset, state } = of;
      const found = built.get(state.name);
      if (found?.version === state.version && found.status === 'built') continue;
      // Requested subjects are built again; a new projection has none.
      if (hasSubjects(state) && found === undefined) continue;
      const rows = hasSubjects(state)
        ? await countedRows(database, chainId, state.name)
        : await estimateRows(database, tables, dataset, chainId);
      builds.push(planned(chainId, of, found?.version ?? null, rows));
    }
  }
  return builds;
}

/** One lookup per chain, however many blocks there are. */
const CHAINS_WITH_BLOCKS = sql`
  WITH RECURSIVE found AS (
    (SELECT chain_id FROM blocks ORDER BY chain_id LIMIT 1)
    UNION ALL
    SELECT (SELECT chain_id FROM blocks WHERE chain_id > found.chain_id ORDER BY chain_id LIMIT 1) FROM found WHERE found.chain_id IS NOT NULL)
  SELECT chain_id FROM found WHERE chain_id IS NOT NULL ORDER BY chain_id`;

interface BuiltState {
  readonly version: number;
  readonly status: string;
}

async function builtStates(
  database: Pick<Database, 'query'>,
  tables: ReadonlySet<string>,
  chainId: number,
): Promise<ReadonlyMap<string, BuiltState>> {
  if (!tables.has('projections')) return new Map();
  const rows = await database.query<BuiltState & { state: string }>(
    sql`SELECT state, version, status FROM projections WHERE chain_id = ${chainId}`,
  );
  return new Map(rows.map(({ state, version, status }) => [state, { version, status }]));
}

function planned(
  chainId: number,
  { dataset, state }: ProjectionOf,
  builtVersion: number | null,
  rows: number,
): PlannedBuild {
  const seconds = rows / COUNTED_ROWS_PER_SECOND;
  return { chainId, state: state.name, dataset: dataset.name, version: state.version, builtVersion, rows, seconds };
}

/** Returns the planner's estimate for the chain. */
async function estimateRows(
  database: Pick<Database, 'query'>,
  tables: ReadonlySet<string>,
  { table }: Dataset,
  chainId: number,
): Promise<number> {
  if (!tables.has(table.name)) return 0;
  const [row] = await database.query<{
    'QUERY PLAN': readonly { readonly Plan: { readonly 'Plan Rows': number } }[];
  }>(sql`EXPLAIN (FORMAT JSON) SELECT FROM "${rawSql(table.name)}" WHERE chain_id = ${rawSql(chainId)}`);
  return row?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}

async function countedRows(database: Pick<Database, 'query'>, chainId: number, state: string): Promise<number> {
  const [row] = await database.query<{ rows: number }>(
    sql`SELECT coalesce(sum(rows), 0)::float8 AS rows FROM subject_projections WHERE chain_id = ${chainId} AND state = ${state}`,
  );
  return row?.rows ?? 0;
}

async function planFills(
  { database, datasets, chains }: UpgradeWorkOptions,
  tables: ReadonlySet<string>,
): Promise<PlannedFill[]> {
  if (!tables.has('sync_ranges')) return [];
  const covered = await database.query<{ chain_id: number; dataset: string; blocks: number }>(
    sql`SELECT chain_id, dataset, sum(last_block - first_block + 1)::float8 AS blocks FROM sync_ranges GROUP BY chain_id, dataset`,
  );
  return chains.flatMap((chain) => {
    const ofChain = covered.filter(({ chain_id }) => chain_id === chain.id);
    if (ofChain.length === 0) return [];
    const blocks = Math.max(...ofChain.map((one) => one.blocks));
    return datasetsOf(chain, datasets)
      .filter(({ name }) => ofChain.every(({ dataset }) => dataset !== name))
      .map(({ name }) => ({ chainId: chain.id, chain: chain.key, dataset: name, blocks }));
  });
}
