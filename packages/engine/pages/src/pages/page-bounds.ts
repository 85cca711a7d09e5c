import type { Chain } from '@chainstead/chains';
import { expectedTrue, joinSql, type KeysetOrder, rawSql, type Sql, sql } from '@chainstead/db';
import {
  type ChainInSql,
  coverage,
  fromDateBound,
  hasContradicted,
  isComplete,
  toDateBound,
} from '../coverage/block-span.ts';
import {
  type CoveredSubject,
  firstBlockOf,
  SUBJECT_RANGES,
  subjectCoverage,
} from '../coverage/subject-coverage.ts';

/** Every bound that is not null applies; blocks and times are inclusive. */
export interface PageBounds {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly fromDate: Date | null;
  readonly toDate: Date | null;
  /** The newest block at the first request of a run: later blocks stay out. */
  readonly pinnedBlock: number | null;
}

export interface PageRange {
  /** For `WITH`: those of dates, and `covered` with `indexed_from` and `indexed_to`. */
  readonly ctes: readonly Sql[];
  readonly lower: readonly Sql[];
  readonly upper: readonly Sql[];
  readonly lowest: Sql | null;
  readonly highest: Sql | null;
  /** All blocks of the bounds are indexed, as their headers say; reads `covered`. */
  readonly complete: Sql;
}

/** @param time a row's time; null if `blocks` has the block of every row */
export function pageRange(
  chain: Chain,
  chainId: ChainInSql,
  of: string | CoveredSubject,
  bounds: PageBounds,
  time: Sql | null = rawSql('block_timestamp'),
): PageRange {
  const bound = (value: number | Date | null): Sql | null => (value === null ? null : sql`${value}`);
  const fromDate = bound(bounds.fromDate);
  const toDate = bound(bounds.toDate);
  const fromBlock = bound(bounds.fromBlock);
  const toBlock = bound(bounds.toBlock);
  // Invariant: PAGE-KEYSET
  const pinned = bound(bounds.pinnedBlock);
  const [fromDateBlock, toDateBlock] = [sql`(SELECT block FROM from_date)`, sql`(SELECT block FROM to_date)`];
  const lowest = bigints([fromBlock, fromDate && fromDateBlock]);
  const highest = bigints([toBlock, pinned, toDate && toDateBlock]);
  // A requested block counts as it is. Otherwise the newest known block is the end.
  const first =
    typeof of === 'string' ? sql`${chain.firstBlock}` : firstBlockOf(of, sql`${chain.firstBlock}::bigint`);
  // Blocks of an emitter end at its last request, which may be far below the newest block.
  const newest = rawSql(
    typeof of !== 'string' && of.kind === 'emitter' ? 'covered.chain_to' : 'covered.indexed_to',
  );
  const knownTo = sql`least(${joinSql(bigints([toDate && sql`(SELECT known_block FROM to_date)`, pinned, rawSql('NULL')]))})`;
  const span = {
    lowest: sql`greatest(${joinSql(bigints([fromBlock, fromDate && sql`(SELECT known_block FROM from_date)`, first]))})`,
    highest: sql`coalesce(${joinSql(bigints([toBlock, knownTo, newest]))})`,
  };
  const dataset = typeof of === 'string' ? of : of.dataset;
  // Invariant: PAGE-COMPLETE
  const isWhole = sql`${isComplete(span)} AND NOT ${hasContradicted(chainId, dataset, span)}`;
  return {
    ctes: [
      ...(fromDate === null ? [] : [fromDateBound(chainId, fromDate)]),
      ...(toDate === null ? [] : [toDateBound(chainId, toDate)]),
      ...(typeof of === 'string' ? [coverage(chainId, of)] : [subjectCoverage(of), SUBJECT_RANGES]),
    ],
    lower: [
      ...(fromBlock === null ? [] : [sql`block_number >= ${fromBlock}::bigint`]),
      ...(fromDate === null ? [] : [sql`block_number >= ${fromDateBlock}`]),
      ...(fromDate === null || time === null ? [] : [expectedTrue(sql`${time} >= ${fromDate}`)]),
    ],
    upper: [
      ...[toBlock, pinned].flatMap((block) => (block === null ? [] : [sql`block_number <= ${block}::bigint`])),
      ...(toDate === null ? [] : [sql`block_number <= ${toDateBlock}`]),
      ...(toDate === null || time === null ? [] : [expectedTrue(sql`${time} <= ${toDate}`)]),
    ],
    lowest: lowest.length === 0 ? null : sql`greatest(${joinSql(lowest)})`,
    highest: highest.length === 0 ? null : sql`least(${joinSql(highest)})`,
    // Without any block of the chain, its height is unknown.
    complete: typeof of === 'string' ? sql`(${isWhole})` : sql`(covered.chain_to IS NOT NULL AND ${isWhole})`,
  };
}

export interface ScanRange {
  readonly scan: readonly Sql[];
  readonly far: readonly Sql[];
}

/** One side only: for both the planner expects next to no rows. @param after null: first page */
export function scanRange(
  order: KeysetOrder,
  { lower, upper }: Pick<PageRange, 'lower' | 'upper'>,
  after: readonly Sql[] | null,
): ScanRange {
  const [near, far] = order === 'DESC' ? [upper, lower] : [lower, upper];
  const start = after ?? near;
  return { scan: start.length === 0 ? far : start, far };
}

function bigints(blocks: readonly (Sql | null)[]): readonly Sql[] {
  return blocks.flatMap((block) => (block === null ? [] : [sql`${block}::bigint`]));
}
