import { readContractDatasets } from '@chainstead/contracts/datasets';
import type { Database } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync/datasets';
import { type ChainStatus, readChainStatuses } from '@chainstead/sync/ingest';
import { type Configuration, retentionOfChains } from '../configuration/index.ts';

export async function readIndexedDatasets(
  database: Pick<Database, 'query'>,
  configuration: Pick<Configuration, 'datasets'>,
): Promise<readonly Dataset[]> {
  return [...configuration.datasets, ...(await readContractDatasets(database))];
}

export async function readStatuses(
  database: Database,
  configuration: Pick<Configuration, 'chains' | 'datasets'>,
): Promise<readonly ChainStatus[]> {
  const { chains } = configuration;
  const configured = chains.map(({ chain }) => chain);
  const datasets = await readIndexedDatasets(database, configuration);
  return readChainStatuses(database, datasets, configured, retentionOfChains(chains));
}
