import type { Chain } from '@chainstead/chains';
import { type BlockRange, intersectRanges, mergeRanges, rangeSize } from '@chainstead/core';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { deepestPart } from '../dataset/whole-block.ts';
import type { RangeWork } from './range-job.ts';

export interface RangeWorkEstimate {
  readonly blocks: number;
  readonly read: number;
  readonly callsMin: number;
  /** If every block is read whole. */
  readonly callsMax: number;
}

export interface DatasetRange {
  readonly dataset: string;
  readonly range: BlockRange;
}

const LOGS_CHUNK_MAX = 20_000;
/** Block and receipts. */
const CALLS_WHOLE = 2;
const CALLS_TRACED = 3;

/** @param proof value of `BACKFILL_PROOF` */
export function estimateRangeWork(
  request: { work: RangeWork; ranges: readonly BlockRange[]; datasets: readonly Dataset[]; chain: Chain },
  coverage: readonly DatasetRange[],
  proof: 'none' | 'receipts',
): RangeWorkEstimate {
  const { work, ranges, chain } = request;
  const kept = datasetsOf(chain, request.datasets);
  const sizeOf = (some: readonly BlockRange[]): number => some.reduce((sum, range) => sum + rangeSize(range), 0);
  const blocks = sizeOf(ranges);
  const covered = kept.map(({ name }) => {
    const own = coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range);
    return intersectRanges(ranges, own);
  });
  // A backfill reads what any dataset lacks, a verification what any covers.
  const inAll = covered.reduce<BlockRange[]>((common, own) => intersectRanges(common, own), [...ranges]);
  const read =
    work === 'reindex'
      ? blocks
      : work === 'verify'
        ? sizeOf(mergeRanges(covered.flat()))
        : blocks - sizeOf(inAll);
  const parts = kept.map((dataset) => deepestPart(dataset, chain));
  const whole = read * (parts.includes('internalTransactions') ? CALLS_TRACED : CALLS_WHOLE);
  const isWhole = work === 'verify' || proof === 'receipts' || parts.some((part) => part !== 'logs');
  return { blocks, read, callsMin: isWhole ? whole : Math.ceil(read / LOGS_CHUNK_MAX), callsMax: whole };
}
