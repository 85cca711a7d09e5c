import type { Dataset } from '../dataset/dataset.ts';
import { hasSubjects } from '../dataset/projection.ts';

/** A row is retained if either setting includes its block. If both are null, all rows are retained. */
export interface RetentionSettings {
  /** Number of newest blocks; more than the chain's maximum reorg depth. */
  readonly blocks: number | null;
  /** Blocks with at least this timestamp. */
  readonly since: Date | null;
}

/** True if rows of old blocks are dropped at all. */
export function dropsHistory(retention: RetentionSettings | undefined): retention is RetentionSettings {
  return retention !== undefined && (retention.blocks !== null || retention.since !== null);
}

/** Partitioned or deletable rows that no other value needs whole, and whose on-demand backfills may stop at the window. */
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
