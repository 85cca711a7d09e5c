import type { Chain } from '@chainstead/chains';
import type { KeepSettings } from '@chainstead/sync';
import type { ChainConfiguration } from './chain-configuration.ts';

/** Says of each configured chain how much of its history is kept; undefined for another one. */
export function keepOfChains(
  configured: readonly Pick<ChainConfiguration, 'chain' | 'keep'>[],
): (chain: Pick<Chain, 'id'>) => KeepSettings | undefined {
  return ({ id }) => configured.find(({ chain }) => chain.id === id)?.keep;
}
