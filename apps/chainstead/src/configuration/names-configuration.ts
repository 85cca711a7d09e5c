import type { ResolvedChains } from './chain-configuration.ts';
import type { GlobalSettings } from './global-keys.ts';

export function toNamesConfiguration(
  settings: GlobalSettings,
  { configured, registry }: Pick<ResolvedChains, 'configured' | 'registry'>,
) {
  const urlsOf = {
    eth: settings.NAMES_RPC_ETH,
    polygon: settings.NAMES_RPC_POLYGON,
    base: settings.NAMES_RPC_BASE,
  };
  const chains = Object.entries(urlsOf).flatMap(([key, urls]) => {
    const indexed = configured.find(({ chain }) => chain.key === key);
    const chain = indexed?.chain ?? registry.find(key);
    if (chain === null || (urls === undefined && indexed === undefined)) return [];
    /** Null: those that index the chain. */
    const upstreams = urls?.map((url) => ({ url })) ?? null;
    return [{ chain, upstreams }];
  });
  return {
    chains,
    universalResolver: settings.ENS_UNIVERSAL_RESOLVER,
    asksGateways: settings.ENS_GATEWAYS === 'on',
  };
}
