import { indexedHeaders } from '@chainstead/answers';
import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import type { StateQuestions } from '@chainstead/state';
import { createRoute, z } from '@hono/zod-openapi';
import { getTokenFacts, getTokenFactsBySymbol } from './get-token-facts.ts';
import { showTokenFacts, tokenFactsSchema } from './token-facts-response.ts';

export interface TokenFactsOptions {
  readonly questions: StateQuestions;
  /** How long a request waits for what contracts say (`INDEX_WAIT_MS`). Milliseconds. */
  readonly waitMs: number;
}

/**
 * `GET /api/v2.2/erc20/metadata` and `GET /api/v2.2/erc20/metadata/symbols`: what token contracts say of themselves
 * (docs/provider-contract.md#token-metadata).
 */
export function tokenFactsRoutes(options: TokenFactsOptions): readonly RouteModule[] {
  return [byAddressRoute(options), bySymbolRoute(options)];
}

const DEFAULT_CHAIN = 'eth';

function byAddressRoute(options: TokenFactsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, logger } = dependencies;
    app.openapi(byAddress(dependencies), async (c) => {
      const query = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const page = await getTokenFacts({ ...options, database, logger }, chain, query.addresses);
      return c.json(showTokenFacts(page.tokens), 200, indexedHeaders(page.indexed));
    });
  };
}

function bySymbolRoute(options: TokenFactsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, logger } = dependencies;
    app.openapi(bySymbol(dependencies), async (c) => {
      const query = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const page = await getTokenFactsBySymbol({ ...options, database, logger }, chain, query.symbols);
      return c.json(showTokenFacts(page.tokens), 200, indexedHeaders(page.indexed));
    });
  };
}

/** As many as of addresses. */
const SYMBOLS_MAX = 100;
/** Symbols are kept so long. Characters. */
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
    description: 'Letter case is ignored. Also accepted as name[]=…, name[0]=… and as a comma list.',
  });

const OK = {
  description:
    'Tokens; the headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete say how much is known',
  content: { 'application/json': { schema: tokenFactsSchema } },
};

function byAddress({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/metadata',
    operationId: 'getTokenMetadata',
    tags: ['Token'],
    summary: 'What token contracts say of themselves',
    description:
      'One row for each address, in the order asked for. A contract that is not known yet is asked now: the request waits a moment for that.',
    request: { query: querySchema({ chain: parameters.chain }, { addresses: parameters.addressesInOrder }) },
    responses: { 200: OK, ...errorResponses(400, 401, 429, 500, 503) },
  });
}

function bySymbol({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/metadata/symbols',
    operationId: 'getTokenMetadataBySymbol',
    tags: ['Token'],
    summary: 'Tokens of some symbols',
    description:
      'Of the tokens that are indexed, 100 at most: those of imported lists first, then those that are no possible spam.',
    request: { query: querySchema({ chain: parameters.chain }, { symbols }) },
    responses: { 200: OK, ...errorResponses(400, 401, 429, 500, 503) },
  });
}
