import { rangeSize } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import type { ChainSyncOptions } from '../chain-sync-options.ts';
import { readChainState } from '../checkpoint.ts';
import { type DatasetCoverage, listCoverage, missingCoverage } from '../coverage/coverage.ts';
import { notNeeded, readRetainedFrom } from '../coverage/retained-from.ts';
import type { RetentionSettings } from '../coverage/retention-settings.ts';
import { readProjectionBuilds } from '../projections/projection-builds.ts';
import {
  type DatasetFailure,
  forgetMendedDatasets,
  openFailures,
  readRecordedFailures,
} from '../read/dataset-failures.ts';

/**
 * Returns the number of covered blocks that are not proven yet, for the dataset with the most: a block is proven for
 * all datasets together.
 */
export function unprovenBlocks(coverage: readonly DatasetCoverage[]): number {
  const blocks = new Map<string, number>();
  for (const { dataset, proof, range } of coverage)
    if (proof === 'none') blocks.set(dataset, (blocks.get(dataset) ?? 0) + rangeSize(range));
  return Math.max(0, ...blocks.values());
}

/**
 * Updates the coverage and projection metrics of one chain; other chains in the process keep theirs.
 * @returns the datasets with missing blocks because they could not decode them
 */
export async function measureCoverage(
  {
    chain,
    database,
    datasets,
    metrics,
    retention,
  }: Pick<ChainSyncOptions, 'chain' | 'database' | 'datasets' | 'metrics'> & {
    readonly retention?: RetentionSettings | undefined;
  },
  provingRate: number | null,
): Promise<readonly DatasetFailure[]> {
  const coverage = await listCoverage(database, chain.id);
  const state = await readChainState(database, chain.id);
  const retainedFrom = await readRetainedFrom(database, { chain, retention });
  metrics.retainedFrom.set({ chain: chain.key }, retainedFrom);
  const old = notNeeded(chain, datasets, retainedFrom);
  for (const { state: name, part } of await readProjectionBuilds(database, chain.id))
    metrics.derivedBuilt.set({ chain: chain.key, state: name }, part);
  const left = unprovenBlocks(coverage.filter(({ dataset }) => datasets.some(({ name }) => name === dataset)));
  metrics.proverRate.set({ chain: chain.key }, provingRate ?? 0);
  if (provingRate === null) metrics.proverSecondsLeft.remove({ chain: chain.key });
  else metrics.proverSecondsLeft.set({ chain: chain.key }, left / provingRate);
  const recorded = (await readRecordedFailures(database)).get(chain.id) ?? [];
  const failures = openFailures(recorded, [...coverage, ...old]);
  await forgetMendedDatasets(database, chain.id, recorded, failures);
  for (const dataset of datasets) {
    const labels = { chain: chain.key, dataset: dataset.name };
    const own = coverage.filter((one) => one.dataset === dataset.name);
    const blocks: Record<ProofLevel, number> = { receipts: 0, cross: 0, none: 0, 'not-applicable': 0, unproven: 0 };
    for (const { proof, range } of own) blocks[proof] += rangeSize(range);
    for (const [proof, count] of Object.entries(blocks))
      if (count > 0) metrics.coveredBlocks.set({ ...labels, proof }, count);
      else metrics.coveredBlocks.remove({ ...labels, proof });
    const wanted = {
      from: dataset.firstBlock?.(chain) ?? state?.historyStart ?? 0,
      to: state?.checkpoint?.number ?? (state?.firstFollowed ?? 0) - 1,
    };
    const gaps = missingCoverage(wanted, [dataset.name], [...own, ...old]);
    metrics.gapBlocks.set(
      labels,
      gaps.reduce((sum, gap) => sum + rangeSize(gap.range), 0),
    );
    const failed = failures.find((one) => one.dataset === dataset.name);
    metrics.datasetFailedBlocks.set(labels, failed?.blocks ?? 0);
  }
  return failures;
}
