import { readContractDatasets } from '@chainstead/contracts/datasets';
import type { Database } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync';
import type { Configuration } from '../configuration/index.ts';

export async function readIndexedDatasets(
  database: Pick<Database, 'query'>,
  configuration: Pick<Configuration, 'datasets'>,
): Promise<readonly Dataset[]> {
  return [...configuration.datasets, ...(await readContractDatasets(database))];
}
