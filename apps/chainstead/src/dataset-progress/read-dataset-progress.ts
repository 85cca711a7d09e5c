import type { Chain } from '@chainstead/chains';
import { feedsOf } from '@chainstead/chains/price-feeds';
import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { countDuePools } from '@chainstead/markets';
import type { ChainStatus } from '@chainstead/sync/ingest';
import { readFeedsWithValue } from '@chainstead/tokens/price-feeds';
import type { Configuration } from '../configuration/index.ts';
import {
  type DatasetProgress,
  datasetProgress,
  type MarketFacts,
  POOLS_COUNTED_MAX,
} from './dataset-progress.ts';

export type ProgressByChain = ReadonlyMap<ChainId, readonly DatasetProgress[]>;

export async function readDatasetProgress(
  database: Pick<Database, 'query'>,
  {
    chains,
    datasets,
    verifyBlocksPerSecond,
  }: Pick<Configuration, 'chains' | 'datasets' | 'verifyBlocksPerSecond'>,
  statuses: readonly ChainStatus[],
): Promise<ProgressByChain> {
  const progress = new Map<ChainId, readonly DatasetProgress[]>();
  for (const { chain } of chains) {
    const status = statuses.find(({ chainId }) => chainId === chain.id);
    if (status === undefined) continue;
    const facts = { chain, status, datasets: datasets.map(({ name }) => name), verifyBlocksPerSecond };
    progress.set(chain.id, datasetProgress({ ...facts, market: await readMarketFacts(database, chain) }));
  }
  return progress;
}

async function readMarketFacts(database: Pick<Database, 'query'>, chain: Chain): Promise<MarketFacts> {
  const known = await readFeedsWithValue(database, chain.id);
  return {
    duePools: await countDuePools(database, chain.id, POOLS_COUNTED_MAX),
    feedsWithoutValue: feedsOf(chain).filter(({ proxy }) => !known.has(proxy)).length,
  };
}
