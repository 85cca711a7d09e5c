import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';

/** Once per definition, under the commit lock. @throws the error of a changed dataset */
export async function requireCurrent(transaction: Transaction, datasets: readonly Dataset[]): Promise<void> {
  for (const check of new Set(datasets.flatMap((dataset) => dataset.requireCurrent ?? []))) await check(transaction);
}
