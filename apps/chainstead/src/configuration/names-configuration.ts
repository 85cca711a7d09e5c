import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { UpstreamConfig } from '@chainstead/rpc';
import type { ResolvedChains } from './chain-configuration.ts';
import type { GlobalSettings } from './global-keys.ts';

export interface NamesConfiguration {
  readonly chains: readonly NameChainConfiguration[];
  readonly universalResolver: Address;
  readonly asksGateways: boolean;
}

export interface NameChainConfiguration {
  readonly chain: Chain;
  /** Null: those that index the chain. */
  readonly upstreams: readonly UpstreamConfig[] | null;
}

export function toNamesConfiguration(
  settings: GlobalSettings,
  { configured, registry }: Pick<ResolvedChains, 'configured' | 'registry'>,
): NamesConfiguration {
  const urlsOf = {
    eth: settings.NAMES_RPC_ETH,
    polygon: settings.NAMES_RPC_POLYGON,
    base: settings.NAMES_RPC_BASE,
  };
  const chains = Object.entries(urlsOf).flatMap(([key, urls]): NameChainConfiguration[] => {
    const indexed = configured.find(({ chain }) => chain.key === key);
    const chain = indexed?.chain ?? registry.find(key);
    if (chain === null || (urls === undefined && indexed === undefined)) return [];
    return [{ chain, upstreams: urls?.map((url) => ({ url })) ?? null }];
  });
  return {
    chains,
    universalResolver: settings.ENS_UNIVERSAL_RESOLVER,
    asksGateways: settings.ENS_GATEWAYS === 'on',
  };
}
