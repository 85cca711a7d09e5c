import { rangeSize } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import type { ChainSyncOptions } from '../chain-sync-options.ts';
import { readChainState } from '../checkpoint.ts';
import { type DatasetCoverage, listCoverage, missingCoverage } from '../coverage/coverage.ts';
import { notNeeded, type RetentionScope, readRetainedFrom } from '../coverage/retained-from.ts';
import { readProjectionBuilds } from '../projections/projection-record.ts';
import {
  type DatasetFailure,
  forgetMendedDatasets,
  openFailures,
  readRecordedFailures,
} from '../read/dataset-failures.ts';

/** Counts the dataset with the most: a block is proven for all datasets together. */
export function unprovenBlocks(coverage: readonly DatasetCoverage[]): number {
  const blocks = new Map<string, number>();
  for (const { dataset, proof, range } of coverage)
    if (proof === 'none' || proof === 'record')
      blocks.set(dataset, (blocks.get(dataset) ?? 0) + rangeSize(range));
  return Math.max(0, ...blocks.values());
}

export interface MeasuredCoverage {
  readonly failures: readonly DatasetFailure[];
  /** Blocks, by dataset. */
  readonly missing: readonly number[];
}

export async function measureCoverage(
  options: Pick<ChainSyncOptions, 'chain' | 'database' | 'datasets' | 'metrics'> & RetentionScope,
  provingRate: number | null,
): Promise<MeasuredCoverage> {
  const { chain, database, datasets, metrics, retention } = options;
  const coverage = await listCoverage(database, chain.id);
  const state = await readChainState(database, chain.id);
  const retainedFrom = await readRetainedFrom(database, { chain, retention });
  metrics.keptFromBlock.set({ chain: chain.key }, retainedFrom);
  const old = notNeeded(chain, datasets, retainedFrom);
  for (const { state: name, part } of await readProjectionBuilds(database, chain.id))
    metrics.projectionBuiltRatio.set({ chain: chain.key, state: name }, part);
  const left = unprovenBlocks(coverage.filter(({ dataset }) => datasets.some(({ name }) => name === dataset)));
  metrics.proverBlocksPerSecond.set({ chain: chain.key }, provingRate ?? 0);
  if (provingRate === null) metrics.proverSecondsLeft.remove({ chain: chain.key });
  else metrics.proverSecondsLeft.set({ chain: chain.key }, left / provingRate);
  const recorded = (await readRecordedFailures(database)).get(chain.id) ?? [];
  const failures = openFailures(recorded, [...coverage, ...old]);
  await forgetMendedDatasets(database, chain.id, recorded, failures);
  const missingBlocks: number[] = [];
  for (const dataset of datasets) {
    const labels = { chain: chain.key, dataset: dataset.name };
    const own = coverage.filter((record) => record.dataset === dataset.name);
    const blocks: Record<ProofLevel, number> = {
      receipts: 0,
      cross: 0,
      record: 0,
      none: 0,
      'not-applicable': 0,
      unproven: 0,
    };
    for (const { proof, range } of own) blocks[proof] += rangeSize(range);
    for (const [proof, count] of Object.entries(blocks))
      if (count > 0) metrics.coveredBlocks.set({ ...labels, proof }, count);
      else metrics.coveredBlocks.remove({ ...labels, proof });
    const wanted = {
      from: dataset.firstBlock?.(chain) ?? state?.historyStart ?? 0,
      to: state?.checkpoint?.number ?? (state?.firstFollowed ?? 0) - 1,
    };
    const gaps = missingCoverage(wanted, [dataset.name], [...own, ...old]);
    const missing = gaps.reduce((sum, { range }) => sum + rangeSize(range), 0);
    metrics.gapBlocks.set(labels, missing);
    missingBlocks.push(missing);
    const failed = failures.find((failure) => failure.dataset === dataset.name);
    metrics.datasetFailedBlocks.set(labels, failed?.blocks ?? 0);
  }
  return { failures, missing: missingBlocks };
}
