import { type Chain, createChainRegistry, type MarketplaceDeployment } from '@chainstead/chains';
import { type Dataset, datasetsOf } from '@chainstead/sync/datasets';
import { SEAPORT_ADDRESS } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
/** The simulated chain, as the program knows it by its configuration, and its datasets. */

export const CHAIN_ID = 1_337_001;
export const CHAIN_KEY = 'sim';

/** Where its NFTs are sold. */
export const MARKETPLACE: MarketplaceDeployment = { protocol: 'seaport-1.6', address: SEAPORT_ADDRESS };

export function simulatedChain(): Chain {
  const sim = { key: CHAIN_KEY, id: CHAIN_ID, pollIntervalMs: 20, marketplaces: [MARKETPLACE] };
  return createChainRegistry({ additional: [sim] }).get(CHAIN_ID);
}

/** The datasets that the program keeps for the chain. */
export function simulatedDatasets(): readonly Dataset[] {
  return datasetsOf(simulatedChain(), datasets);
}
