/** Keys of names (ENS, Unstoppable). */
import { NAME_CONTRACTS } from '@chainstead/names/name-chains';
import { optional, withDefault } from './key-facts.ts';
import { evmAddress, listOf, oneOf, urlOf } from './values.ts';

export const nameKeys = {
  NAMES_RPC_ETH: upstreams('Ethereum', 'ENS, and Unstoppable'),
  NAMES_RPC_POLYGON: upstreams('Polygon', 'Unstoppable'),
  NAMES_RPC_BASE: upstreams('Base', 'Unstoppable'),
  ENS_GATEWAYS: withDefault(oneOf('on', 'off'), {
    group: 'Names',
    description:
      'Whether gateways are asked for ENS names that are kept off chain (CCIP-Read). Contracts write their URLs; only public addresses are reached',
    allowed: 'on or off',
    example: 'on',
    default: 'off',
  }),
  ENS_UNIVERSAL_RESOLVER: withDefault(evmAddress, {
    group: 'Names',
    description: 'The Universal Resolver of ENS, for development chains that have one of their own',
    allowed: 'an address',
    example: NAME_CONTRACTS.universalResolver,
    default: NAME_CONTRACTS.universalResolver,
  }),
};

function upstreams(chain: string, services: string) {
  return optional(listOf(urlOf('http:', 'https:')), {
    group: 'Names',
    description: `Nodes of ${chain} that names are read from (${services}), whether the chain is indexed or not`,
    allowed: 'a comma list of http(s):// URLs',
    example: 'https://node.example.com/v2/secret',
    whenAbsent: `those that index the chain; where it is not in CHAINS, names are not read from it`,
    isUrl: true,
  });
}
