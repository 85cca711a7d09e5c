/** The chain that is simulated, as the program knows it by its configuration, and what is kept for it. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { datasets } from '@chainstead/datasets';
import { type Dataset, datasetsOf } from '@chainstead/sync';

export const CHAIN_ID = 1_337_001;

export function simulatedChain(): Chain {
  return createChainRegistry({ additional: [{ key: 'sim', id: CHAIN_ID, pollIntervalMs: 20 }] }).get(CHAIN_ID);
}

/** The datasets that the program keeps for the chain. */
export function simulatedDatasets(): readonly Dataset[] {
  return datasetsOf(simulatedChain(), datasets);
}
