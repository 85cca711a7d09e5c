/** Without a record of this version, a projection counts no rows. */
import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { type Database, IS_CITUS, sql, type Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { hasSubjects, type Projection, type SubjectProjection } from '../dataset/projection.ts';
import { lockChainCommits, OptimisticWriteConflictError } from '../rows/commit-retry.ts';
import type { ProjectionOf } from './counted-rows.ts';

export interface ProjectionRecord {
  readonly state: string;
  readonly dataset: string;
  readonly version: number;
  readonly progress: ProjectionProgress;
  /** Tables may be distributed. Read here to save commits a statement. */
  readonly isOnCitus: boolean;
  /** Built for at least one subject. */
  readonly hasSubjects: boolean;
}

type ProjectionProgress =
  /** Rows are deleted up to this page of the tables; none are counted. */
  | { readonly status: 'clearing'; readonly page: number }
  /** Counts rows up to this block. */
  | { readonly status: 'building'; readonly builtTo: number }
  | { readonly status: 'built' };

export async function readProjectionRecords(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<readonly ProjectionRecord[]> {
  return source.query<ProjectionRecord>(
    sql`SELECT state, dataset, version, json_strip_nulls(json_build_object('status', status, 'page', CASE status WHEN 'clearing' THEN position END,
           'builtTo', CASE status WHEN 'building' THEN position END)) AS progress,
         ${IS_CITUS} AS "isOnCitus", EXISTS (
           SELECT FROM subject_projections AS stored WHERE stored.chain_id = ${chainId} AND stored.state = known.state AND NOT stored.is_stale
         ) AS "hasSubjects"
       FROM projections AS known WHERE chain_id = ${chainId}`,
  );
}

/** Undefined if there is no record of this version. */
export function recordOf(
  records: readonly ProjectionRecord[],
  state: Pick<Projection, 'name' | 'version'>,
): ProjectionRecord | undefined {
  return records.find((record) => record.state === state.name && record.version === state.version);
}

/** Under the commit lock, this is stable until the transaction ends. */
export function isFollowed({ projections = [] }: Dataset, records: readonly ProjectionRecord[]): boolean {
  return projections.some((state) => {
    const record = recordOf(records, state);
    return record !== undefined && isCounting(state, record);
  });
}

export function isCounting({ subjects }: Projection, { progress, hasSubjects }: ProjectionRecord): boolean {
  return subjects === undefined ? progress.status !== 'clearing' : hasSubjects;
}

/** @throws OptimisticWriteConflictError if a projection follows rows written without staging */
export function requireAsExpected(
  datasets: readonly Dataset[],
  expected: readonly ProjectionRecord[],
  records: readonly ProjectionRecord[],
): void {
  const begun = datasets.find((dataset) => isFollowed(dataset, records) && !isFollowed(dataset, expected));
  // Invariant: SYNC-PROJECTIONS-EQUAL
  if (begun !== undefined) throw new OptimisticWriteConflictError(`no state follows the rows of ${begun.name}`);
}

/** @param rows counted since the last save */
export async function saveProjectionProgress(
  transaction: Transaction,
  chainId: ChainId,
  { name }: Projection,
  progress: ProjectionProgress,
  rows: number,
): Promise<void> {
  const position = 'page' in progress ? progress.page : progress.status === 'building' ? progress.builtTo : 0;
  await transaction.query(
    sql`UPDATE projections SET status = ${progress.status}, position = ${position}, rows = rows + ${rows}, updated_at = now()
      WHERE chain_id = ${chainId} AND state = ${name}`,
  );
}

/** Before any other write: without blocks, projections count as built. @returns those to build */
export async function registerProjections(
  database: Database,
  chain: Chain,
  datasets: readonly Dataset[],
): Promise<readonly Projection[]> {
  const states = projectionsOf(datasets);
  const unknownOf = (records: readonly ProjectionRecord[]) =>
    states.filter(({ state }) => recordOf(records, state) === undefined);
  if (unknownOf(await readProjectionRecords(database, chain.id)).length === 0) return [];
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const unknown = unknownOf(await readProjectionRecords(transaction, chain.id));
    const [block] = await transaction.query(sql`SELECT FROM blocks WHERE chain_id = ${chain.id} LIMIT 1`);
    for (const { dataset, state } of unknown) {
      const status = block === undefined || hasSubjects(state) ? 'built' : 'clearing';
      if (hasSubjects(state))
        await transaction.query(
          sql`UPDATE subject_projections SET built_to = -1, is_stale = true, rows = 0 WHERE chain_id = ${chain.id} AND state = ${state.name}`,
        );
      await transaction.query(
        sql`INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES (${chain.id}, ${state.name}, ${dataset.name}, ${state.version}, ${status}, 0)
         ON CONFLICT (chain_id, state) DO UPDATE SET dataset = excluded.dataset, version = excluded.version,
           status = excluded.status, position = 0, rows = 0, updated_at = now()`,
      );
    }
    return block === undefined ? [] : unknown.flatMap(({ state }) => (hasSubjects(state) ? [] : [state]));
  });
}

export function projectionsOf(datasets: readonly Dataset[]): readonly ProjectionOf[] {
  const byName = new Map<string, ProjectionOf>();
  for (const dataset of datasets)
    for (const state of dataset.projections ?? [])
      if (!byName.has(state.name)) byName.set(state.name, { dataset, state });
  return [...byName.values()];
}

export function subjectProjectionsOf(datasets: readonly Dataset[]): readonly ProjectionOf<SubjectProjection>[] {
  return projectionsOf(datasets).flatMap(({ dataset, state }) =>
    hasSubjects(state) ? [{ dataset, state }] : [],
  );
}

export interface ProjectionBuild {
  readonly state: string;
  readonly dataset: string;
  readonly status: ProjectionProgress['status'];
  /** Share of blocks with counted rows, 0 to 1. */
  readonly part: number;
  readonly rows: number;
}

export async function readProjectionBuilds(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<readonly ProjectionBuild[]> {
  return source.query<ProjectionBuild & Record<string, unknown>>(
    sql`SELECT state, dataset, status, rows, CASE status WHEN 'built' THEN 1 WHEN 'clearing' THEN 0
         ELSE greatest(0, least(1, (position - first + 1)::float8 / (newest - first + 1))) END AS part
       FROM projections
         CROSS JOIN (SELECT min(block_number) AS first, max(block_number) AS newest FROM blocks WHERE chain_id = ${chainId}) AS span
      WHERE chain_id = ${chainId} ORDER BY state`,
  );
}

export async function readUnbuilt(
  source: Pick<Database, 'query'>,
): Promise<ReadonlyMap<number, readonly ProjectionBuild[]>> {
  const rows = await source.query<ProjectionBuild & { chainId: number }>(
    sql`SELECT chain_id, state, dataset, status, rows, CASE status WHEN 'clearing' THEN 0
         ELSE greatest(0, least(1, (position - first + 1)::float8 / (newest - first + 1))) END AS part
       FROM projections
         CROSS JOIN LATERAL (SELECT min(block_number) AS first, max(block_number) AS newest FROM blocks WHERE chain_id = projections.chain_id) AS span
      WHERE status <> 'built' ORDER BY chain_id, state`,
  );
  return Map.groupBy(rows, ({ chainId }) => chainId);
}
