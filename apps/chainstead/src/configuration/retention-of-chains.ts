import type { Chain } from '@chainstead/chains';
import type { RetentionSettings } from '@chainstead/sync/ingest';
import type { ChainConfiguration } from './chain-configuration.ts';

export function retentionOfChains(
  configured: readonly Pick<ChainConfiguration, 'chain' | 'retention'>[],
): (chain: Pick<Chain, 'id'>) => RetentionSettings | undefined {
  return ({ id }) => configured.find(({ chain }) => chain.id === id)?.retention;
}
