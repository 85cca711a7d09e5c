/** Read-only, and tolerates missing tables of an earlier database. */
import type { Chain } from '@chainstead/chains';
import { type Database, rawSql, sql } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { hasSubjects } from '../dataset/projection.ts';
import { projectionsOf } from './projection-record.ts';

export interface PlannedBuild {
  readonly chainId: number;
  readonly state: string;
  readonly dataset: string;
  /** For this program, and of the database; null: none. */
  readonly version: number;
  readonly builtVersion: number | null;
  /** Approximate. */
  readonly rows: number;
  /** Approximate. */
  readonly seconds: number;
}

export interface PlannedFill {
  readonly chainId: number;
  readonly chain: string;
  readonly dataset: string;
  readonly blocks: number;
}

export interface UpgradeWork {
  readonly builds: readonly PlannedBuild[];
  readonly fills: readonly PlannedFill[];
}

export interface UpgradeWorkOptions {
  readonly database: Pick<Database, 'query'>;
  readonly datasets: readonly Dataset[];
  readonly chains: readonly Chain[];
}

/** On two cores with an SSD and no other load. Commits run in between. */
const COUNTED_ROWS_PER_SECOND = 33_000;

export async function planUpgradeWork(options: UpgradeWorkOptions): Promise<UpgradeWork> {
  const relations = await options.database.query<{ name: string }>(
    sql`SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace`,
  );
  const tables = new Set(relations.map(({ name }) => name));
  return { builds: await planBuilds(options, tables), fills: await planFills(options, tables) };
}

async function planBuilds({ database, datasets }: UpgradeWorkOptions, tables: ReadonlySet<string>) {
  if (!tables.has('blocks')) return [];
  const chains = await database.query<{ chainId: number }>(CHAINS_WITH_BLOCKS);
  const builds: PlannedBuild[] = [];
  for (const { chainId } of chains) {
    const stored = await builtStates(database, tables, chainId);
    for (const { dataset, state } of projectionsOf(datasets)) {
      const built = stored.get(state.name);
      if (built?.version === state.version && built.status === 'built') continue;
      if (hasSubjects(state) && built === undefined) continue;
      const rows = hasSubjects(state)
        ? await countedRows(database, chainId, state.name)
        : await estimateRows(database, tables, dataset, chainId);
      const names = { state: state.name, dataset: dataset.name, version: state.version };
      const seconds = rows / COUNTED_ROWS_PER_SECOND;
      builds.push({ chainId, ...names, builtVersion: built?.version ?? null, rows, seconds });
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
async function builtStates(database: Pick<Database, 'query'>, tables: ReadonlySet<string>, chainId: number) {
  const states = tables.has('projections')
    ? await database.query<{ state: string; version: number; status: string }>(
        sql`SELECT state, version, status FROM projections WHERE chain_id = ${chainId}`,
      )
    : [];
  return new Map(states.map((built) => [built.state, built]));
}

async function estimateRows(
  database: Pick<Database, 'query'>,
  tables: ReadonlySet<string>,
  { table }: Dataset,
  chainId: number,
): Promise<number> {
  if (!tables.has(table.name)) return 0;
  const [row] = await database.query<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>(
    sql`EXPLAIN (FORMAT JSON) SELECT FROM "${rawSql(table.name)}" WHERE chain_id = ${rawSql(chainId)}`,
  );
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
  const covered = await database.query<{ chain: number; dataset: string; blocks: number }>(
    sql`SELECT chain_id AS chain, dataset, sum(last_block - first_block + 1)::float8 AS blocks FROM sync_ranges GROUP BY chain_id, dataset`,
  );
  return chains.flatMap((chain) => {
    const ofChain = covered.filter((coverage) => coverage.chain === chain.id);
    if (ofChain.length === 0) return [];
    const blocks = Math.max(...ofChain.map((coverage) => coverage.blocks));
    return datasetsOf(chain, datasets)
      .filter(({ name }) => ofChain.every(({ dataset }) => dataset !== name))
      .map(({ name }) => ({ chainId: chain.id, chain: chain.key, dataset: name, blocks }));
  });
}
