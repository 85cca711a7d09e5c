import { createLabelBook, showIndexed } from '@chainstead/answers';
import { type Address, parseAddress } from '@chainstead/core';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createHasCodeOf } from '@chainstead/state';
import { createRoute, z } from '@hono/zod-openapi';
import { percentagesOf } from '../balances/percent-of-supply.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { tellTokenOwners } from './tell-token-owners.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';
import { showOwner, tokenOwnersSchema } from './token-owners-response.ts';

/**
 * `GET /api/v2.2/erc20/{token_address}/owners`: who holds a token, by balance (docs/provider-contract.md#token-owners). The first request has its
 * transfers counted, and where blocks are missing of its history, those read; balances are what the contract says.
 */
export function createTokenOwnersRoute(options: TokenHoldersOptions): RouteModule {
  const { questions, kept, walletHistory, waitMs, liveMaxAgeMs } = options;
  return (app, dependencies) => {
    const { chains, database, limits, logger, paging } = dependencies;
    const runs = paging.forRoute({
      route: 'token-owners',
      filter: filterSchema,
      position: positionSchema,
      defaults: { token_address: '', chain: DEFAULT_CHAIN },
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    const hasCodeOf = createHasCodeOf();
    const ownKept = { labels: createLabelBook({ logger }), untold: new Set<string>() };
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const page = runs.open({
        cursor: query.cursor,
        limit: query.limit,
        order: query.order,
        filter: { token_address: c.req.valid('param').token_address, chain: query.chain?.key },
      });
      const chain = indexedChain(chains, page.filter.chain, erc20Transfers.name);
      const token = parseAddress(page.filter.token_address);
      const { limit, order, position } = page;
      const after = position === null ? null : { ...position, account: position.account as Address };
      const sources = { database, questions, logger, kept, ...ownKept, waitMs, liveMaxAgeMs };
      const told = await tellTokenOwners(sources, chain, { token, order, limit, after });
      if (!told.isCovered)
        await walletHistory.requestContract({ database, logger }, chain, token, c.get('principal')?.id ?? 'open');
      const accounts = told.owners.map(({ account }) => account);
      const about = {
        decimals: told.decimals ?? 0,
        percentOf: told.totalSupply === null ? () => null : percentagesOf(BigInt(told.totalSupply)),
        codes: await hasCodeOf(sources, chain, accounts, waitMs),
      };
      const { indexed, next } = told;
      return c.json(
        {
          page: page.page + 1,
          page_size: limit,
          cursor: next === null ? null : runs.next(page, { position: { ...next }, upperBound: indexed.toBlock ?? 0 }),
          indexed: showIndexed({ ...indexed, complete: told.isComplete }),
          total_supply: told.totalSupply,
          result: told.owners.map((owner) => showOwner(owner, about)),
        },
        200,
      );
    });
  };
}

const DEFAULT_CHAIN = 'eth';
const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({ token_address: z.string(), chain: z.string() });

/** The last owner of a page. */
const positionSchema = z.object({
  balance: z.string().regex(/^\d+$/),
  account: z.string(),
  isShort: z.boolean(),
});

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/{token_address}/owners',
    operationId: 'getTokenOwners',
    tags: ['Token'],
    summary: 'Who holds a token',
    description:
      'Accounts with a balance above zero, largest first by default. Balances move: an owner that moves across the end of a page meanwhile may be missed or repeated.',
    request: {
      params: z.object({ token_address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: parameters.limit,
        order: parameters.order.openapi({ description: 'Order by balance.' }),
        cursor: parameters.cursor,
      }),
    },
    responses: {
      200: { description: 'A page of owners', content: { 'application/json': { schema: tokenOwnersSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
