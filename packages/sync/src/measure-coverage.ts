import { rangeSize } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import type { ChainSyncOptions } from './chain-sync-options.ts';
import { readChainState } from './checkpoint.ts';
import { type DatasetCoverage, listCoverage, missingCoverage } from './coverage.ts';
import { readDerivedBuilds } from './derived/derived-builds.ts';
import type { KeepSettings } from './keep-settings.ts';
import { belowKept, readKeptFrom } from './kept-from.ts';

/** Blocks that are covered and not proven yet, of the dataset that has most of them: all are proven at once. */
export function unprovenBlocks(coverage: readonly DatasetCoverage[]): number {
  const blocks = new Map<string, number>();
  for (const { dataset, proof, range } of coverage)
    if (proof === 'none') blocks.set(dataset, (blocks.get(dataset) ?? 0) + rangeSize(range));
  return Math.max(0, ...blocks.values());
}

/** Brings the metrics of what a chain covers, and of what is derived from it, up to date. Those of other chains in the same process stay as they are. */
export async function measureCoverage(
  {
    chain,
    database,
    datasets,
    metrics,
    keep,
  }: Pick<ChainSyncOptions, 'chain' | 'database' | 'datasets' | 'metrics'> & {
    readonly keep?: KeepSettings | undefined;
  },
  provingRate: number | null,
): Promise<void> {
  const coverage = await listCoverage(database, chain.id);
  const state = await readChainState(database, chain.id);
  const keptFrom = await readKeptFrom(database, { chain, keep });
  metrics.keptFrom.set({ chain: chain.key }, keptFrom);
  const old = belowKept(datasets, keptFrom);
  for (const { state: name, part } of await readDerivedBuilds(database, chain.id))
    metrics.derivedBuilt.set({ chain: chain.key, state: name }, part);
  const left = unprovenBlocks(coverage.filter(({ dataset }) => datasets.some(({ name }) => name === dataset)));
  metrics.proverRate.set({ chain: chain.key }, provingRate ?? 0);
  if (provingRate === null) metrics.proverSecondsLeft.remove({ chain: chain.key });
  else metrics.proverSecondsLeft.set({ chain: chain.key }, left / provingRate);
  for (const dataset of datasets) {
    const labels = { chain: chain.key, dataset: dataset.name };
    const own = coverage.filter((one) => one.dataset === dataset.name);
    const blocks: Record<ProofLevel, number> = { receipts: 0, cross: 0, none: 0, 'not-applicable': 0, unproven: 0 };
    for (const { proof, range } of own) blocks[proof] += rangeSize(range);
    for (const [proof, count] of Object.entries(blocks))
      if (count > 0) metrics.coveredBlocks.set({ ...labels, proof }, count);
      else metrics.coveredBlocks.remove({ ...labels, proof });
    const wanted = { from: state?.historyStart ?? 0, to: state?.checkpoint?.number ?? (state?.firstFollowed ?? 0) - 1 };
    const gaps = missingCoverage(wanted, [dataset.name], [...own, ...old]);
    metrics.gapBlocks.set(
      labels,
      gaps.reduce((sum, gap) => sum + rangeSize(gap.range), 0),
    );
  }
}
