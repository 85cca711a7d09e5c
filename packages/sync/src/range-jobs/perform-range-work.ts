import { type BlockRange, ChainsteadError, rangeSize } from '@chainstead/core';
import { UnavailableBlocksError } from '../errors.ts';
import { backfillRanges, type RangeCommandOptions, reindexRanges, verifyRanges } from '../range-commands.ts';
import type { RangeJob, VerifyOutcome } from './range-job.ts';

/** How far a piece of a job is. */
export interface PieceProgress {
  readonly done: number;
  readonly total: number;
  readonly logs: number;
}

export interface PieceResult {
  readonly logs: number;
  /** Of a verification. */
  readonly outcome: VerifyOutcome | null;
  /** What no upstream could give: all else is done. */
  readonly lacking: ChainsteadError | null;
}

/** Does a piece of a job. */
export type PerformRangeWork = (
  job: Pick<RangeJob, 'work' | 'dataset'>,
  ranges: readonly BlockRange[],
  tell: (progress: PieceProgress) => void,
  signal: AbortSignal,
) => Promise<PieceResult>;

/** The dataset of a job is not kept here. */
class DatasetNotKeptError extends ChainsteadError {
  constructor(chain: string, dataset: string, kept: readonly string[]) {
    super({
      code: 'DATASET_NOT_KEPT',
      message: `The dataset ${dataset} is not kept of ${chain} by this process: it keeps ${kept.join(', ')}`,
      facts: { chain, dataset, kept },
      remedy: 'Add it to DATASETS of the role ingest, or ask for another one',
      retryable: false,
    });
  }
}

/** The work of EVM chains: that of the commands. */
export function performRangeWork(options: RangeCommandOptions): PerformRangeWork {
  return async ({ work, dataset }, ranges, tell, signal) => {
    const datasets = options.datasets.filter(({ name }) => dataset === null || name === dataset);
    if (dataset !== null && datasets.length === 0)
      throw new DatasetNotKeptError(
        options.chain.key,
        dataset,
        options.datasets.map(({ name }) => name),
      );
    let logs = 0;
    const own: RangeCommandOptions = {
      ...options,
      datasets,
      onProgress: (progress) => {
        logs = progress.logs;
        tell({ done: progress.done, total: progress.total, logs });
      },
    };
    if (work === 'verify') {
      const report = await verifyRanges(own, ranges, signal);
      const uncovered = report.uncovered.reduce((sum, range) => sum + rangeSize(range), 0);
      return { logs, outcome: { levels: report.levels, repairs: report.repairs.length, uncovered }, lacking: null };
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
