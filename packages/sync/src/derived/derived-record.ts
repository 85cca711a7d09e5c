/**
 * What the database holds of each derived state (`derived_states`): up to where it counts the rows of its dataset. A state that
 * has no record, or one of another version, counts none of them for this program.
 */
import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { type Database, IS_CITUS, type Transaction } from '@chainstead/db';
import { AssumedWronglyError } from '../commit-retry.ts';
import type { Dataset, DerivedState, SubjectState } from '../dataset.ts';
import { lockChainCommits } from '../write-batch.ts';
import type { StateOf } from './counted-rows.ts';

export interface DerivedRecord {
  readonly state: string;
  readonly dataset: string;
  readonly version: number;
  readonly progress: DerivedProgress;
  /** Whether the server has Citus, so that tables may be distributed: told here, so that no commit has to ask. */
  readonly isOnCitus: boolean;
  /** Whether it is kept of any subject. */
  readonly hasSubjects: boolean;
}

export type DerivedProgress =
  /** What it held of the chain is deleted, up to this page of its tables. It counts no rows. */
  | { readonly status: 'clearing'; readonly page: number }
  /** It counts the rows up to this block, and none above. */
  | { readonly status: 'building'; readonly builtTo: number }
  /** It counts all rows. */
  | { readonly status: 'built' };

/** Of one chain. */
export async function readDerivedRecords(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<readonly DerivedRecord[]> {
  const rows = await source.query<RecordRow>(
    `SELECT state, dataset, version, status, position, ${IS_CITUS} AS is_on_citus, EXISTS (
         SELECT FROM kept_subjects AS kept WHERE kept.chain_id = $1 AND kept.state = known.state AND NOT kept.is_stale
       ) AS has_subjects
       FROM derived_states AS known WHERE chain_id = $1`,
    [chainId],
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
  status: DerivedProgress['status'];
  position: number;
  is_on_citus: boolean;
  has_subjects: boolean;
}

function progressOf({ status, position }: RecordRow): DerivedProgress {
  switch (status) {
    case 'clearing':
      return { status, page: position };
    case 'building':
      return { status, builtTo: position };
    case 'built':
      return { status };
  }
}

/** The record of a state; undefined where it has none of this version. */
export function recordOf(
  records: readonly DerivedRecord[],
  state: Pick<DerivedState, 'name' | 'version'>,
): DerivedRecord | undefined {
  return records.find((record) => record.state === state.name && record.version === state.version);
}

/** Whether any state follows what is added to a dataset or removed from it. Under the commit lock this stays so until the transaction ends. */
export function isFollowed({ derived = [] }: Dataset, records: readonly DerivedRecord[]): boolean {
  return derived.some((state) => {
    const record = recordOf(records, state);
    return record !== undefined && isCounting(state, record);
  });
}

/** Whether a state counts some rows: of any subject if it has subjects. */
export function isCounting({ subjects }: DerivedState, { progress, hasSubjects }: DerivedRecord): boolean {
  return subjects === undefined ? progress.status !== 'clearing' : hasSubjects;
}

/** Rows that no state was to follow were not set aside for it. @throws AssumedWronglyError where one does by now */
export function requireAsExpected(
  datasets: readonly Dataset[],
  expected: readonly DerivedRecord[],
  records: readonly DerivedRecord[],
): void {
  const begun = datasets.find((dataset) => isFollowed(dataset, records) && !isFollowed(dataset, expected));
  if (begun !== undefined) throw new AssumedWronglyError(`no state follows the rows of ${begun.name}`);
}

/** Writes how far a state is, having counted so many more rows. */
export async function saveDerivedProgress(
  transaction: Transaction,
  chainId: ChainId,
  { name }: DerivedState,
  progress: DerivedProgress,
  rows: number,
): Promise<void> {
  await transaction.query(
    `UPDATE derived_states SET status = $3, position = $4, rows = rows + $5, updated_at = now()
      WHERE chain_id = $1 AND state = $2`,
    [chainId, name, progress.status, positionOf(progress), rows],
  );
}

function positionOf(progress: DerivedProgress): number {
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
 * Makes a record of each state that has none of its version. On a chain without blocks there is nothing to build; elsewhere the
 * state is to be built from the rows that are there. Called before anything else writes rows of the chain.
 * @returns the states that are to be built
 */
export async function registerDerivedStates(
  database: Database,
  chain: Chain,
  datasets: readonly Dataset[],
): Promise<readonly DerivedState[]> {
  const states = statesOf(datasets);
  const unknownOf = (records: readonly DerivedRecord[]) =>
    states.filter(({ state }) => recordOf(records, state) === undefined);
  if (unknownOf(await readDerivedRecords(database, chain.id)).length === 0) return [];
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const unknown = unknownOf(await readDerivedRecords(transaction, chain.id));
    const [found] = await transaction.query('SELECT FROM blocks WHERE chain_id = $1 LIMIT 1', [chain.id]);
    for (const { dataset, state } of unknown) {
      // Subjects are built one by one.
      const status = found === undefined || hasSubjects(state) ? 'built' : 'clearing';
      if (hasSubjects(state))
        await transaction.query(
          'UPDATE kept_subjects SET built_to = -1, is_stale = true, rows = 0 WHERE chain_id = $1 AND state = $2',
          [chain.id, state.name],
        );
      await transaction.query(
        `INSERT INTO derived_states (chain_id, state, dataset, version, status, position) VALUES ($1, $2, $3, $4, $5, 0)
         ON CONFLICT (chain_id, state) DO UPDATE SET dataset = excluded.dataset, version = excluded.version,
           status = excluded.status, position = 0, rows = 0, updated_at = now()`,
        [chain.id, state.name, dataset.name, state.version, status],
      );
    }
    return found === undefined ? [] : unknown.flatMap(({ state }) => (hasSubjects(state) ? [] : [state]));
  });
}

/** Every state once, with the first dataset that has it. */
export function statesOf(datasets: readonly Dataset[]): readonly StateOf[] {
  const found = new Map<string, StateOf>();
  for (const dataset of datasets)
    for (const state of dataset.derived ?? []) if (!found.has(state.name)) found.set(state.name, { dataset, state });
  return [...found.values()];
}

/** The states of single subjects among them. */
export function subjectStatesOf(datasets: readonly Dataset[]): readonly StateOf<SubjectState>[] {
  return statesOf(datasets).flatMap(({ dataset, state }) => (hasSubjects(state) ? [{ dataset, state }] : []));
}

/** Whether a state counts the rows of single subjects. */
export function hasSubjects(state: DerivedState): state is SubjectState {
  return state.subjects !== undefined;
}
