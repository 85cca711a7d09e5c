import type { Chain } from '@chainstead/chains';
import { type BlockRange, intersectRanges, mergeRanges, rangeSize } from '@chainstead/core';
import type { Dataset } from '../dataset.ts';
import { datasetsOf } from '../datasets-of.ts';
import { deepestPart } from '../whole-block.ts';
import type { RangeWork } from './range-job.ts';

/** What work on ranges costs, told before it is asked for. */
export interface RangeWorkEstimate {
  /** Asked for. */
  readonly blocks: number;
  /** Of those, the ones that are read at all. */
  readonly read: number;
  /** Calls of nodes: at least, and where each block has to be read whole. */
  readonly callsMin: number;
  readonly callsMax: number;
}

/** What is covered, or missing, of a dataset. */
export interface DatasetRange {
  readonly dataset: string;
  readonly range: BlockRange;
}

/** A chunk of filtered logs at most. Blocks. */
const LOGS_CHUNK_MAX = 20_000;
/** Block and receipts. */
const CALLS_WHOLE = 2;
const CALLS_TRACED = 3;

/**
 * Pure.
 * @param asked ranges, and which of the chain's datasets: those that are given
 * @param coverage of the chain
 * @param proof how history is read: `BACKFILL_PROOF`
 */
export function estimateRangeWork(
  {
    work,
    ranges,
    datasets,
    chain,
  }: {
    readonly work: RangeWork;
    readonly ranges: readonly BlockRange[];
    readonly datasets: readonly Dataset[];
    readonly chain: Chain;
  },
  coverage: readonly DatasetRange[],
  proof: 'none' | 'receipts',
): RangeWorkEstimate {
  const kept = datasetsOf(chain, datasets);
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const coveredOf = (name: string): BlockRange[] =>
    intersectRanges(
      ranges,
      coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range),
    );
  const sizeOf = (some: readonly BlockRange[]): number => some.reduce((sum, range) => sum + rangeSize(range), 0);
  const covered = kept.map(({ name }) => coveredOf(name));
  // What any of them lacks is read for those; what any of them has is verified.
  const inAll = covered.reduce<BlockRange[]>((common, own) => intersectRanges(common, own), [...ranges]);
  const read =
    work === 'reindex' ? blocks : work === 'verify' ? sizeOf(mergeRanges(covered.flat())) : blocks - sizeOf(inAll);
  const parts = kept.map((dataset) => deepestPart(dataset, chain));
  const whole = read * (parts.includes('internalTransactions') ? CALLS_TRACED : CALLS_WHOLE);
  const isWhole = work === 'verify' || proof === 'receipts' || parts.some((part) => part !== 'logs');
  return { blocks, read, callsMin: isWhole ? whole : Math.ceil(read / LOGS_CHUNK_MAX), callsMax: whole };
}
