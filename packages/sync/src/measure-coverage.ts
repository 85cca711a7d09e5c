import { rangeSize } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import type { ChainSyncOptions } from './chain-sync-options.ts';
import { readChainState } from './checkpoint.ts';
import { listCoverage, missingCoverage } from './coverage.ts';

/** Brings the metrics of what a chain covers up to date. Those of other chains in the same process stay as they are. */
export async function measureCoverage({
  chain,
  database,
  datasets,
  metrics,
}: Pick<ChainSyncOptions, 'chain' | 'database' | 'datasets' | 'metrics'>): Promise<void> {
  const coverage = await listCoverage(database, chain.id);
  const state = await readChainState(database, chain.id);
  for (const dataset of datasets) {
    const labels = { chain: chain.key, dataset: dataset.name };
    const own = coverage.filter((one) => one.dataset === dataset.name);
    const blocks: Record<ProofLevel, number> = { receipts: 0, cross: 0, none: 0, 'not-applicable': 0, unproven: 0 };
    for (const { proof, range } of own) blocks[proof] += rangeSize(range);
    for (const [proof, count] of Object.entries(blocks))
      if (count > 0) metrics.coveredBlocks.set({ ...labels, proof }, count);
      else metrics.coveredBlocks.remove({ ...labels, proof });
    const wanted = { from: state?.historyStart ?? 0, to: state?.checkpoint?.number ?? (state?.firstFollowed ?? 0) - 1 };
    const gaps = missingCoverage(wanted, [dataset.name], own);
    metrics.gapBlocks.set(
      labels,
      gaps.reduce((sum, gap) => sum + rangeSize(gap.range), 0),
    );
  }
}
