import { findingsOf } from '@chainstead/core';
import type { SampledBlock } from '@chainstead/rpc';
import type { Configuration } from '../configuration/index.ts';
import { progressText } from '../dataset-progress/dataset-progress.ts';
import type { ProgressByChain } from '../dataset-progress/read-dataset-progress.ts';
import { datasets as known } from '../datasets/registry.ts';
import { datasetCosts } from './dataset-costs.ts';
import type { ChainReport } from './doctor-text.ts';

/** @param sample whole blocks by chain key */
export function examineDatasets(
  { chains, datasets }: Pick<Configuration, 'chains' | 'datasets'>,
  sample: ReadonlyMap<string, readonly SampledBlock[]>,
  progress: ProgressByChain = new Map(),
): readonly ChainReport[] {
  const configured = new Set(datasets.map(({ name }) => name));
  return chains.map(({ chain }) => ({
    chain: chain.key,
    datasets: datasetCosts({ chain, known, configured, sample: sample.get(chain.key) ?? [] }),
    progress: (progress.get(chain.id) ?? []).map((one) => findingsOf(one.subject).ok(progressText(one))),
  }));
}
