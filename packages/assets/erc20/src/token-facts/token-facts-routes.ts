import { decimalAmount } from '@chainstead/core';
import { type RouteModule, routesFor, textParameter, view, wire, withServices } from '@chainstead/http';
import { indexedHeaders } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { Erc20Services } from '../routes.ts';
import { getTokenFacts, getTokenFactsBySymbol, type ShownTokenFacts } from './get-token-facts.ts';

const { address, digits, flag, text } = wire;
const nothing = wire.wire(z.null())(() => null);
const emptyList = wire.wire(z.array(z.unknown()).max(0));

const tokenView = view('TokenMetadata', (token: ShownTokenFacts) => token, {
  address: address(),
  address_label: text.orNull.of('label'),
  name: text.orNull('null if the contract returns none, as for symbol and decimals'),
  symbol: text.orNull(),
  decimals: digits.orNull(({ decimals }) => decimals?.toString() ?? null),
  logo: text.orNull(),
  logo_hash: nothing,
  thumbnail: text.orNull('Same as logo', 'logo'),
  total_supply: digits.orNull('Base units', 'totalSupply'),
  total_supply_formatted: text.orNull({ example: '77976217.893478' }, ({ totalSupply, decimals }) =>
    totalSupply === null || decimals === null ? null : decimalAmount(totalSupply, decimals),
  ),
  implementations: emptyList('Not available', () => []),
  fully_diluted_valuation: nothing,
  market_cap: nothing,
  circulating_supply: nothing,
  block_number: digits.orNull(
    'Block in which the contract was created. null until it is found',
    ({ createdBlock }) => createdBlock?.toString() ?? null,
  ),
  created_at: wire
    .wire(z.iso.datetime({ precision: 3 }), (date: Date) => date.toISOString())
    .orNull('Time of the creation block', 'createdAt'),
  validated: wire.wire(z.int().min(0).max(1))('1 if the contract returns token metadata', ({ isValidated }) =>
    Number(isValidated),
  ),
  possible_spam: flag.of('possibleSpam'),
  verified_contract: flag('true if an imported token list contains the token', 'verified'),
  categories: wire.wire(z.array(z.string()).max(0))('Not available', () => []),
  links: wire.wire(z.object({}))('Not available', () => ({})),
  security_score: nothing,
  description: nothing,
});

const response = {
  description:
    'The tokens. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks',
  schema: tokenView.schema.array(),
};

const { defineRoute } = routesFor<Pick<Erc20Services, 'nodeReads'>>();

/** docs/api/tokens.md#token-metadata */
const tokenMetadataRoute = defineRoute({
  path: '/api/v2.2/erc20/metadata',
  operationId: 'getTokenMetadata',
  tag: 'Tokens',
  summary: 'Get token metadata by contract',
  description:
    'One row per address, in request order. An unknown contract is read on request: the response waits for it, up to `ON_DEMAND_WAIT_MS`.',
  query: ['chain', { addresses: 'addressesInOrder' }],
  response,
  async answer({ chain, addresses, c, services, ...request }) {
    const { tokens, indexed } = await getTokenFacts({ ...services, ...request }, chain, addresses);
    return c.json(tokens.map(tokenView.show), 200, indexedHeaders(indexed));
  },
});

const SYMBOLS_MAX = 100;
/** Characters. */
const SYMBOL_LENGTH_MAX = 64;

const symbols = z
  .array(
    textParameter(`a symbol of 1 to ${SYMBOL_LENGTH_MAX} characters`, (text) =>
      text.length >= 1 && text.length <= SYMBOL_LENGTH_MAX ? text : undefined,
    ),
  )
  .max(SYMBOLS_MAX, { error: `at most ${SYMBOLS_MAX} items` })
  .openapi({
    type: 'array',
    items: { type: 'string', example: 'USDC' },
    description: 'Case-insensitive. Also accepted as name[]=…, name[0]=… and as a comma-separated list.',
  });

const tokenMetadataBySymbolRoute = defineRoute({
  path: '/api/v2.2/erc20/metadata/symbols',
  operationId: 'getTokenMetadataBySymbol',
  tag: 'Tokens',
  summary: 'Get token metadata by symbol',
  description:
    'Up to 100 indexed tokens. Tokens of imported lists come first, then tokens that are not possible spam.',
  query: ['chain', { symbols }],
  response,
  async answer({ chain, symbols, c, services, ...request }) {
    const { tokens, indexed } = await getTokenFactsBySymbol({ ...services, ...request }, chain, symbols);
    return c.json(tokens.map(tokenView.show), 200, indexedHeaders(indexed));
  },
});

export function tokenFactsRoutes(services: Pick<Erc20Services, 'nodeReads'>): readonly RouteModule[] {
  return [withServices(services, [tokenMetadataRoute, tokenMetadataBySymbolRoute])];
}
