import type { Dataset } from '../dataset/dataset.ts';
import { hasSubjects } from '../dataset/projection.ts';

/** A block in either setting is retained; both null: all. */
export interface RetentionSettings {
  /** Newest blocks; more than the chain's maximum reorg depth. */
  readonly blocks: number | null;
  readonly since: Date | null;
}

export function dropsHistory(retention: RetentionSettings | undefined): retention is RetentionSettings {
  return retention !== undefined && (retention.blocks !== null || retention.since !== null);
}

/** No value needs all its rows, and on-demand backfills may stop at the window. */
export function isDroppable({
  table,
  projections,
  histories,
  isKeptWhole = false,
  deletesOldRows = false,
}: Pick<Dataset, 'table' | 'projections' | 'histories' | 'isKeptWhole' | 'deletesOldRows'>): boolean {
  return (
    (table.isPartitioned || deletesOldRows) &&
    !isKeptWhole &&
    (projections ?? []).every((projection) => hasSubjects(projection) || projection.dropped !== undefined) &&
    (histories === undefined || histories.mayBeCut === true)
  );
}
