import type { Dataset } from '@chainstead/sync/datasets';
import { reindexRanges } from '@chainstead/sync/ingest';
import { datasets as allDatasets } from '../datasets/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { BlockRangeOptions } from '../ranges/block-range-options.ts';
import { detachRangeWork } from '../ranges/detach-range-work.ts';
import { runRangeWork, writeOutcome } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';

interface ReindexOptions extends BlockRangeOptions {
  readonly dataset?: string;
}

export async function runReindex(invocation: Invocation<ReindexOptions>): Promise<void> {
  const { options, context } = invocation;
  chooseDatasets(allDatasets, options.dataset);
  if (options.detach === true) return detachRangeWork(invocation, 'reindex', { dataset: options.dataset });
  const { result, chain } = await runRangeWork(
    { ...invocation, name: 'reindex' },
    async (work, ranges, signal) => {
      const chosen = chooseDatasets(work.datasets, options.dataset);
      const progress = await reindexRanges({ ...work, datasets: chosen }, ranges, signal);
      return { ...progress, names: chosen.map(({ name }) => name) };
    },
  );
  const { names } = result;
  writeOutcome(context, `Reindexed ${result.done} blocks of ${chain}: ${names.join(', ')}.`, {
    work: 'reindex',
    chain,
    datasets: names,
    blocks: result.done,
    logs: result.logs,
    finished: true,
  });
}

function chooseDatasets(datasets: readonly Dataset[], name: string | undefined): readonly Dataset[] {
  if (name === undefined) return datasets;
  const chosen = datasets.filter((dataset) => dataset.name === name);
  if (chosen.length === 0)
    throw new UsageError(
      `Unknown dataset ${name}`,
      `Use one of ${datasets.map((dataset) => dataset.name).join(', ')}`,
    );
  return chosen;
}
