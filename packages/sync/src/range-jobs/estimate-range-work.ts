import type { Chain } from '@chainstead/chains';
import { type BlockRange, intersectRanges, mergeRanges, rangeSize } from '@chainstead/core';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { deepestPart } from '../dataset/deepest-part.ts';
import type { RangeWork } from './range-job.ts';

/** Estimated cost of work on ranges, before it is requested. */
export interface RangeWorkEstimate {
  /** Requested blocks. */
  readonly blocks: number;
  /** Requested blocks that have to be read. */
  readonly read: number;
  /** Minimum number of RPC calls. */
  readonly callsMin: number;
  /** Number of RPC calls if every block is read whole. */
  readonly callsMax: number;
}

/** A covered or missing range of a dataset. */
export interface DatasetRange {
  readonly dataset: string;
  readonly range: BlockRange;
}

/** Maximum size of one request for filtered logs. Blocks. */
const LOGS_CHUNK_MAX = 20_000;
/** RPC calls per whole block: block and receipts. */
const CALLS_WHOLE = 2;
const CALLS_TRACED = 3;

/**
 * Returns the estimated cost of work on ranges. Pure.
 * @param requested work, ranges and datasets
 * @param coverage of the chain
 * @param proof value of `BACKFILL_PROOF`
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
  // A backfill reads blocks that any dataset lacks. A verification reads blocks that any dataset covers.
  const inAll = covered.reduce<BlockRange[]>((common, own) => intersectRanges(common, own), [...ranges]);
  const read =
    work === 'reindex' ? blocks : work === 'verify' ? sizeOf(mergeRanges(covered.flat())) : blocks - sizeOf(inAll);
  const parts = kept.map((dataset) => deepestPart(dataset, chain));
  const whole = read * (parts.includes('internalTransactions') ? CALLS_TRACED : CALLS_WHOLE);
  const isWhole = work === 'verify' || proof === 'receipts' || parts.some((part) => part !== 'logs');
  return { blocks, read, callsMin: isWhole ? whole : Math.ceil(read / LOGS_CHUNK_MAX), callsMax: whole };
}
