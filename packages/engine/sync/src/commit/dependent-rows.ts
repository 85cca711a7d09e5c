/** Written under the commit lock, when the rows they depend on are complete. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import type { DatasetLines, DecodedBatch } from '../read/decoded-batch.ts';
import { addRows, type WriteMode } from '../rows/row-changes.ts';

export type RowWatches = ReadonlyMap<Dataset, () => Promise<void>>;

export const NO_WATCHES: RowWatches = new Map();

/** Their rows may be written in any order. */
export function independentOf(datasets: readonly Dataset[]): readonly Dataset[] {
  return datasets.some(isDependent) ? datasets.filter((dataset) => !isDependent(dataset)) : datasets;
}
export const isDependent = ({ dependent }: Dataset): boolean => dependent !== undefined;

/** Call it before rows of the range are changed. */
export async function watchRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  range: BlockRange,
): Promise<RowWatches> {
  const watches = new Map<Dataset, () => Promise<void>>();
  for (const dataset of datasets)
    if (dataset.preceding !== undefined)
      watches.set(dataset, await dataset.preceding.watch(transaction, chain, range));
  return watches;
}

export interface DependentWriting {
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly range: BlockRange;
  readonly batch: Pick<DecodedBatch, 'parts'>;
  readonly mode: WriteMode;
  readonly watches: RowWatches;
}

/** Under the commit lock. @returns the number of rows by dataset name */
export async function writeDependentRows(
  transaction: Transaction,
  { chain, datasets, range, batch, mode, watches }: DependentWriting,
): Promise<ReadonlyMap<string, number>> {
  const written = new Map<string, number>();
  for (const dataset of datasets) {
    if (isDependent(dataset))
      for await (const part of selectedParts(transaction, { chain, datasets, range, batch }, dataset)) {
        await addRows(transaction, [part], mode);
        written.set(dataset.name, (written.get(dataset.name) ?? 0) + part.lines.length);
      }
    await watches.get(dataset)?.();
  }
  return written;
}

export async function* selectedParts(
  transaction: Transaction,
  { chain, datasets, range, batch }: Pick<DependentWriting, 'chain' | 'datasets' | 'range' | 'batch'>,
  dataset: Dataset,
): AsyncGenerator<DatasetLines> {
  const blocks = { range, datasets: new Set(datasets.map(({ name }) => name)) };
  for (const part of batch.parts) {
    if (part.dataset !== dataset) continue;
    const lines = await dataset.dependent?.select(transaction, chain, blocks, part.lines);
    yield { ...part, lines: lines ?? part.lines };
  }
}
