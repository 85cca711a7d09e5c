import { NAME_CONTRACTS } from '@chainstead/tokens/names/name-chains';
import { keysOf } from './key-facts.ts';
import { evmAddress, httpUrls, oneOf } from './values.ts';

const { optional, withDefault } = keysOf('Names');

export const nameKeys = {
  NAMES_RPC_ETH: upstreams('Ethereum', 'ENS and Unstoppable Domains'),
  NAMES_RPC_POLYGON: upstreams('Polygon', 'Unstoppable Domains'),
  NAMES_RPC_BASE: upstreams('Base', 'Unstoppable Domains'),
  ENS_GATEWAYS: withDefault(oneOf('on', 'off'), {
    description:
      'Whether gateways are queried for off-chain ENS names (CCIP-Read). Contracts define the gateway URLs; only public addresses are reached',
    example: 'on',
    default: 'off',
  }),
  ENS_UNIVERSAL_RESOLVER: withDefault(evmAddress, {
    description: 'Address of the ENS Universal Resolver, for development chains that have their own',
    example: NAME_CONTRACTS.universalResolver,
    default: NAME_CONTRACTS.universalResolver,
  }),
};

function upstreams(chain: string, services: string) {
  return optional(httpUrls, {
    description: `${chain} RPC URLs for name lookups (${services}), independent of CHAINS`,
    allowed: 'a comma list of http(s):// URLs',
    example: 'https://node.example.com/v2/secret',
    whenAbsent: 'the upstreams of the chain if it is in CHAINS; otherwise no lookups on it',
    isUrl: true,
  });
}
