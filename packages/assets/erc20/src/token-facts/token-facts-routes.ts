import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads';
import { indexedHeaders } from '@chainstead/pages';
import { createRoute, z } from '@hono/zod-openapi';
import { getTokenFacts, getTokenFactsBySymbol } from './get-token-facts.ts';
import { showTokenFacts, tokenFactsSchema } from './token-facts-response.ts';

interface TokenRoutesOptions {
  readonly nodeReads: NodeReadQueue;
  /** `ON_DEMAND_WAIT_MS`. */
  readonly waitMs: number;
}

/** docs/api/tokens.md#token-metadata */
export function tokenFactsRoutes(options: TokenRoutesOptions): readonly RouteModule[] {
  return [
    (app, dependencies) => {
      const { chains, database, logger } = dependencies;
      app.openapi(byAddress(dependencies), async (c) => {
        const query = c.req.valid('query');
        const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
        const page = await getTokenFacts({ ...options, database, logger }, chain, query.addresses);
        return c.json(showTokenFacts(page.tokens), 200, indexedHeaders(page.indexed));
      });
    },
    (app, dependencies) => {
      const { chains, database, logger } = dependencies;
      app.openapi(bySymbol(dependencies), async (c) => {
        const query = c.req.valid('query');
        const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
        const page = await getTokenFactsBySymbol({ ...options, database, logger }, chain, query.symbols);
        return c.json(showTokenFacts(page.tokens), 200, indexedHeaders(page.indexed));
      });
    },
  ];
}

const DEFAULT_CHAIN = 'eth';

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

const OK = {
  description:
    'The tokens. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks',
  content: { 'application/json': { schema: tokenFactsSchema } },
};

function byAddress({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/metadata',
    operationId: 'getTokenMetadata',
    tags: ['Tokens'],
    summary: 'Get token metadata by contract',
    description:
      'One row per address, in request order. An unknown contract is read on request: the response waits for it, up to `ON_DEMAND_WAIT_MS`.',
    request: { query: querySchema({ chain: parameters.chain }, { addresses: parameters.addressesInOrder }) },
    responses: { 200: OK, ...errorResponses(400, 401, 429, 500, 503) },
  });
}

function bySymbol({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/metadata/symbols',
    operationId: 'getTokenMetadataBySymbol',
    tags: ['Tokens'],
    summary: 'Get token metadata by symbol',
    description:
      'Up to 100 indexed tokens. Tokens of imported lists come first, then tokens that are not possible spam.',
    request: { query: querySchema({ chain: parameters.chain }, { symbols }) },
    responses: { 200: OK, ...errorResponses(400, 401, 429, 500, 503) },
  });
}
