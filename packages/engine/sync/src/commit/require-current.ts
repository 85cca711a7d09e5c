import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';

/** Checks each definition once, under the chain's commit lock. @throws the error of a dataset that has changed */
export async function requireCurrent(transaction: Transaction, datasets: readonly Dataset[]): Promise<void> {
  for (const check of new Set(datasets.flatMap((dataset) => dataset.requireCurrent ?? []))) await check(transaction);
}
