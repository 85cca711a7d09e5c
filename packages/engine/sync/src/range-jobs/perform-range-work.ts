import type { Chain } from '@chainstead/chains';
import {
  type BlockRange,
  type ChainsteadError,
  defineError,
  intersectRanges,
  mergeRanges,
  rangeSize,
} from '@chainstead/core';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { deepestPart } from '../dataset/whole-block.ts';
import { UnavailableBlocksError } from '../errors.ts';
import { backfillRanges, type RangeCommandOptions, reindexRanges, verifyRanges } from './range-commands.ts';
import type { RangeJob, RangeWork, VerifyOutcome } from './range-job.ts';

export interface PieceProgress {
  readonly done: number;
  readonly total: number;
  readonly logs: number;
}

export interface PieceResult {
  readonly logs: number;
  /** Null except for a verification. */
  readonly outcome: VerifyOutcome | null;
  /** Blocks that no upstream returned; all others are done. Null: none. */
  readonly lacking: ChainsteadError | null;
}

export type PerformRangeWork = (
  job: Pick<RangeJob, 'work' | 'dataset'>,
  ranges: readonly BlockRange[],
  report: (progress: PieceProgress) => void,
  signal: AbortSignal,
) => Promise<PieceResult>;

class DatasetNotKeptError extends defineError(
  'DATASET_NOT_KEPT',
  (chain: string, dataset: string, kept: readonly string[]) => ({
    message: `The dataset ${dataset} of ${chain} is not indexed by this process. It indexes ${kept.join(', ')}`,
    facts: { chain, dataset, kept },
    remedy: 'Add the dataset to DATASETS of the ingest role, or choose another one',
  }),
) {}

/** @throws DatasetNotKeptError */
export function performRangeWork(options: RangeCommandOptions): PerformRangeWork {
  return async ({ work, dataset }, ranges, report, signal) => {
    const datasets = options.datasets.filter(({ name }) => dataset === null || name === dataset);
    const names = options.datasets.map(({ name }) => name);
    if (dataset !== null && datasets.length === 0)
      throw new DatasetNotKeptError(options.chain.key, dataset, names);
    let logs = 0;
    const own: RangeCommandOptions = {
      ...options,
      datasets,
      onProgress: (progress) => {
        logs = progress.logs;
        report({ done: progress.done, total: progress.total, logs });
      },
    };
    if (work === 'verify') {
      const report = await verifyRanges(own, ranges, signal);
      const uncovered = report.uncovered.reduce((sum, range) => sum + rangeSize(range), 0);
      return {
        logs,
        outcome: { levels: report.levels, repairs: report.repairs.length, uncovered },
        lacking: null,
      };
    }
    try {
      const done = await (work === 'backfill' ? backfillRanges : reindexRanges)(own, ranges, signal);
      return { logs: done.logs, outcome: null, lacking: null };
    } catch (error) {
      if (error instanceof UnavailableBlocksError) return { logs, outcome: null, lacking: error };
      throw error;
    }
  };
}

interface RangeWorkEstimate {
  readonly blocks: number;
  readonly read: number;
  readonly callsMin: number;
  /** If every block is read whole. */
  readonly callsMax: number;
}

interface DatasetRange {
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
