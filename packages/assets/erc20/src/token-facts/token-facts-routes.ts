import { decimalAmount } from '@chainstead/core';
import { defineRoute, type RouteModule, textParameter } from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { indexedHeaders } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { getTokenFacts, getTokenFactsBySymbol, type ShownTokenFacts } from './get-token-facts.ts';

interface TokenRoutesOptions {
  readonly nodeReads: NodeReadQueue;
}

/** docs/api/tokens.md#token-metadata */
export function tokenFactsRoutes(options: TokenRoutesOptions): readonly RouteModule[] {
  return [
    (app, dependencies) => {
      const { database, logger, parameters } = dependencies;
      defineRoute(app, dependencies, {
        path: '/api/v2.2/erc20/metadata',
        operationId: 'getTokenMetadata',
        tags: ['Tokens'],
        summary: 'Get token metadata by contract',
        description:
          'One row per address, in request order. An unknown contract is read on request: the response waits for it, up to `ON_DEMAND_WAIT_MS`.',
        query: { chain: parameters.chain },
        lists: { addresses: parameters.addressesInOrder },
        response,
        async answer({ chain, addresses, c }) {
          const { tokens, indexed } = await getTokenFacts({ ...options, database, logger }, chain, addresses);
          return c.json(showTokenFacts(tokens), 200, indexedHeaders(indexed));
        },
      });
    },
    (app, dependencies) => {
      const { database, logger, parameters } = dependencies;
      defineRoute(app, dependencies, {
        path: '/api/v2.2/erc20/metadata/symbols',
        operationId: 'getTokenMetadataBySymbol',
        tags: ['Tokens'],
        summary: 'Get token metadata by symbol',
        description:
          'Up to 100 indexed tokens. Tokens of imported lists come first, then tokens that are not possible spam.',
        query: { chain: parameters.chain },
        lists: { symbols },
        response,
        async answer({ chain, symbols, c }) {
          const { tokens, indexed } = await getTokenFactsBySymbol(
            { ...options, database, logger },
            chain,
            symbols,
          );
          return c.json(showTokenFacts(tokens), 200, indexedHeaders(indexed));
        },
      });
    },
  ];
}

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

const text = z.string().nullable();
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' }).nullable();

const tokenFactsSchema = z.array(
  z
    .object({
      address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
      address_label: text,
      name: text.openapi({ description: 'null if the contract returns none, as for symbol and decimals' }),
      symbol: text,
      decimals: digits,
      logo: text,
      logo_hash: z.null(),
      thumbnail: text.openapi({ description: 'Same as logo' }),
      total_supply: digits.openapi({ description: 'Base units' }),
      total_supply_formatted: z.string().nullable().openapi({ example: '77976217.893478' }),
      implementations: z.array(z.unknown()).max(0).openapi({ description: 'Not available' }),
      fully_diluted_valuation: z.null(),
      market_cap: z.null(),
      circulating_supply: z.null(),
      block_number: digits.openapi({
        description: 'Block in which the contract was created. null until it is found',
      }),
      created_at: z.iso
        .datetime({ precision: 3 })
        .nullable()
        .openapi({ description: 'Time of the creation block' }),
      validated: z.int().min(0).max(1).openapi({ description: '1 if the contract returns token metadata' }),
      possible_spam: z.boolean(),
      verified_contract: z
        .boolean()
        .openapi({ description: 'true if an imported token list contains the token' }),
      categories: z.array(z.string()).max(0).openapi({ description: 'Not available' }),
      links: z.object({}).openapi({ description: 'Not available' }),
      security_score: z.null(),
      description: z.null(),
    })
    .openapi('TokenMetadata'),
);

const response = {
  description:
    'The tokens. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks',
  schema: tokenFactsSchema,
};

function showTokenFacts(tokens: readonly ShownTokenFacts[]): z.infer<typeof tokenFactsSchema> {
  return tokens.map((token) => ({
    address: token.address,
    address_label: token.label,
    name: token.name,
    symbol: token.symbol,
    decimals: token.decimals === null ? null : String(token.decimals),
    logo: token.logo,
    logo_hash: null,
    thumbnail: token.logo,
    total_supply: token.totalSupply,
    total_supply_formatted:
      token.totalSupply === null || token.decimals === null
        ? null
        : decimalAmount(token.totalSupply, token.decimals),
    implementations: [],
    fully_diluted_valuation: null,
    market_cap: null,
    circulating_supply: null,
    block_number: token.createdBlock === null ? null : String(token.createdBlock),
    created_at: token.createdAt?.toISOString() ?? null,
    validated: token.isValidated ? 1 : 0,
    possible_spam: token.possibleSpam,
    verified_contract: token.verified,
    categories: [],
    links: {},
    security_score: null,
    description: null,
  }));
}
