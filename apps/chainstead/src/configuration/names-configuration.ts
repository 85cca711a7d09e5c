import { NAME_CHAINS } from '@chainstead/tokens/names/name-chains';
import type { ResolvedChains } from './chain-configuration.ts';
import type { GlobalSettings } from './global-keys.ts';

const KEYS = new Set(Object.values(NAME_CHAINS).flat());

/** Names are read from chains in `CHAINS`, and from those of the gateway whose nodes the operator chose. */
export function toNamesConfiguration(
  settings: GlobalSettings,
  { configured, gateway }: Pick<ResolvedChains, 'configured' | 'gateway'>,
) {
  const indexed = configured.filter(({ chain, hasNoNodes }) => KEYS.has(chain.key) && !hasNoNodes);
  const isIndexed = new Set(configured.map(({ chain }) => chain.key));
  const served = gateway.filter(
    ({ chain, usesPublicUpstreams }) => KEYS.has(chain.key) && !isIndexed.has(chain.key) && !usesPublicUpstreams,
  );
  return {
    /** Upstreams are null for those that index the chain. */
    chains: [
      ...indexed.map(({ chain }) => ({ chain, upstreams: null })),
      ...served.map(({ chain, upstreams }) => ({ chain, upstreams })),
    ],
    asksGateways: settings.ENS_GATEWAYS === 'on',
  };
}
