import { type BlockRange, type ChainsteadError, defineError, rangeSize } from '@chainstead/core';
import { UnavailableBlocksError } from '../errors.ts';
import { backfillRanges, type RangeCommandOptions, reindexRanges, verifyRanges } from './range-commands.ts';
import type { RangeJob, VerifyOutcome } from './range-job.ts';

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
