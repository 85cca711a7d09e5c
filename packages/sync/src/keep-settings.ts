/** How much of a chain's history is kept, as the operator wants it, and of which datasets. */
import type { Dataset } from './dataset.ts';
import { hasSubjects } from './derived/derived-record.ts';

/** Rows that either of them wants are kept; both null: all are. */
export interface KeepSettings {
  /** So many of the newest blocks; more than the chain's reorganisation depth. */
  readonly blocks: number | null;
  /** Blocks from this time on. */
  readonly since: Date | null;
}

/** Whether rows of old blocks are to go at all. */
export function dropsHistory(keep: KeepSettings | undefined): keep is KeepSettings {
  return keep !== undefined && (keep.blocks !== null || keep.since !== null);
}

/**
 * Whether old rows of the dataset can go: they lie in partitions, no state is built from all of them, and histories of wallets that were read on demand
 * may end where they do.
 */
export function isDroppable({ table, derived, histories }: Pick<Dataset, 'table' | 'derived' | 'histories'>): boolean {
  return (
    table.isPartitioned &&
    (derived ?? []).every(hasSubjects) &&
    (histories === undefined || histories.mayBeCut === true)
  );
}
