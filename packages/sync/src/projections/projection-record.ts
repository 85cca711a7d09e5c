/**
 * Records of projections (`projections`): the last block whose rows each one counts. Without a record of this version,
 * a projection counts no rows.
 */
import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { type Database, IS_CITUS, sql, type Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { hasSubjects, type Projection, type SubjectProjection } from '../dataset/projection.ts';
import { OptimisticWriteConflictError } from '../rows/commit-retry.ts';
import { lockChainCommits } from '../rows/write-batch.ts';
import type { ProjectionOf } from './counted-rows.ts';

export interface ProjectionRecord {
  readonly state: string;
  readonly dataset: string;
  readonly version: number;
  readonly progress: ProjectionProgress;
  /**
   * Whether the server has Citus, so that tables may be distributed. Read here, so that commits need no extra
   * statement.
   */
  readonly isOnCitus: boolean;
  /** Whether it is built for at least one subject. */
  readonly hasSubjects: boolean;
}

export type ProjectionProgress =
  /** Its rows of the chain are deleted, up to this page of its tables. It counts no rows. */
  | { readonly status: 'clearing'; readonly page: number }
  /** It counts rows up to this block. */
  | { readonly status: 'building'; readonly builtTo: number }
  /** It counts all rows. */
  | { readonly status: 'built' };

/** Returns the records of one chain. */
export async function readProjectionRecords(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<readonly ProjectionRecord[]> {
  const rows = await source.query<RecordRow>(
    sql`SELECT state, dataset, version, status, position, ${IS_CITUS} AS is_on_citus, EXISTS (
         SELECT FROM subject_projections AS stored WHERE stored.chain_id = ${chainId} AND stored.state = known.state AND NOT stored.is_stale
       ) AS has_subjects
       FROM projections AS known WHERE chain_id = ${chainId}`,
  );
  return rows.map((row) => ({
    ...row,
    progress: progressOf(row),
    isOnCitus: row.is_on_citus,
    hasSubjects: row.has_subjects,
  }));
}

interface RecordRow {
  state: string;
  dataset: string;
  version: number;
  status: ProjectionProgress['status'];
  position: number;
  is_on_citus: boolean;
  has_subjects: boolean;
}

function progressOf({ status, position }: RecordRow): ProjectionProgress {
  switch (status) {
    case 'clearing':
      return { status, page: position };
    case 'building':
      return { status, builtTo: position };
    case 'built':
      return { status };
  }
}

/** Returns the record of a projection; undefined if there is none of this version. */
export function recordOf(
  records: readonly ProjectionRecord[],
  state: Pick<Projection, 'name' | 'version'>,
): ProjectionRecord | undefined {
  return records.find((record) => record.state === state.name && record.version === state.version);
}

/**
 * Returns whether any projection follows changes of the dataset. Under the commit lock, this is stable until the
 * transaction ends.
 */
export function isFollowed({ projections = [] }: Dataset, records: readonly ProjectionRecord[]): boolean {
  return projections.some((state) => {
    const record = recordOf(records, state);
    return record !== undefined && isCounting(state, record);
  });
}

/** Returns whether a projection counts any rows. If it has subjects: of any subject. */
export function isCounting({ subjects }: Projection, { progress, hasSubjects }: ProjectionRecord): boolean {
  return subjects === undefined ? progress.status !== 'clearing' : hasSubjects;
}

/**
 * Requires that projections still don't follow rows written without staging. @throws OptimisticWriteConflictError if
 * one does now
 */
export function requireAsExpected(
  datasets: readonly Dataset[],
  expected: readonly ProjectionRecord[],
  records: readonly ProjectionRecord[],
): void {
  const begun = datasets.find((dataset) => isFollowed(dataset, records) && !isFollowed(dataset, expected));
  if (begun !== undefined) throw new OptimisticWriteConflictError(`no state follows the rows of ${begun.name}`);
}

/** Saves the progress of a build. @param rows rows counted since the last save */
export async function saveProjectionProgress(
  transaction: Transaction,
  chainId: ChainId,
  { name }: Projection,
  progress: ProjectionProgress,
  rows: number,
): Promise<void> {
  await transaction.query(
    sql`UPDATE projections SET status = ${progress.status}, position = ${positionOf(progress)}, rows = rows + ${rows}, updated_at = now()
      WHERE chain_id = ${chainId} AND state = ${name}`,
  );
}

function positionOf(progress: ProjectionProgress): number {
  switch (progress.status) {
    case 'clearing':
      return progress.page;
    case 'building':
      return progress.builtTo;
    case 'built':
      return 0;
  }
}

/**
 * Creates a record for each projection without one of its version. On a chain without blocks it counts as built;
 * otherwise it must be built from stored rows. Call it before any other write of the chain's rows.
 * @returns the projections to build
 */
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
    const [found] = await transaction.query(sql`SELECT FROM blocks WHERE chain_id = ${chain.id} LIMIT 1`);
    for (const { dataset, state } of unknown) {
      // Subjects are built individually.
      const status = found === undefined || hasSubjects(state) ? 'built' : 'clearing';
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
    return found === undefined ? [] : unknown.flatMap(({ state }) => (hasSubjects(state) ? [] : [state]));
  });
}

/** Returns every projection once, with the first dataset that has it. */
export function projectionsOf(datasets: readonly Dataset[]): readonly ProjectionOf[] {
  const found = new Map<string, ProjectionOf>();
  for (const dataset of datasets)
    for (const state of dataset.projections ?? [])
      if (!found.has(state.name)) found.set(state.name, { dataset, state });
  return [...found.values()];
}

/** Returns the projections with subjects. */
export function subjectProjectionsOf(datasets: readonly Dataset[]): readonly ProjectionOf<SubjectProjection>[] {
  return projectionsOf(datasets).flatMap(({ dataset, state }) => (hasSubjects(state) ? [{ dataset, state }] : []));
}
