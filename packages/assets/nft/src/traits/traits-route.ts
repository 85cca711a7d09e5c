import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  requesterOf,
} from '@chainstead/http';
import { showIndexed } from '@chainstead/pages';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import { createRequestedTraits, NOT_READY, type RequestedTraitsOptions } from './requested-traits.ts';
import { groupTraits, NOT_READY_RESPONSE, traitsSchema } from './traits-response.ts';
import { type StoredTrait, traitListStatement } from './traits-statement.ts';

const TRAITS_MAX = 5_000;
const DEFAULT_CHAIN = 'eth';

/** docs/api/nfts.md#traits */
export function createTraitsRoute(options: RequestedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const traits = createRequestedTraits(dependencies, options);
    app.openapi(routeOf(dependencies), async (c) => {
      const { chain: requested } = c.req.valid('query');
      const chain = indexedChain(dependencies.chains, requested?.key ?? DEFAULT_CHAIN, nftTransfers.name);
      const contract = c.req.valid('param').address;
      const statement = traitListStatement(chain, { contract, limit: TRAITS_MAX, order: 'DESC', after: null });
      const list = await traits.read<StoredTrait>({ chain, contract, requester: requesterOf(c) }, statement);
      if (list === null) return c.json(NOT_READY, 202);
      const isAll = list.rows.length <= TRAITS_MAX;
      const indexed = showIndexed({ ...list.indexed, complete: list.indexed.complete && isAll });
      return c.json({ traits: groupTraits(list.rows.slice(0, TRAITS_MAX), list.tokens), indexed }, 200);
    });
  };
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/traits',
    operationId: 'getNFTTraitsByCollection',
    tags: ['NFTs'],
    summary: 'Get traits of an NFT collection',
    description:
      'Traits of a collection by type, with the number of NFTs per value. The first request starts reading the metadata: returns 202 until it is complete. Limited to collections of up to 50,000 NFTs and the 5,000 most frequent traits; the paged route returns all traits.',
    request: { params: z.object({ address: parameters.address }), query: querySchema({ chain: parameters.chain }) },
    responses: {
      200: { description: 'The traits', content: { 'application/json': { schema: traitsSchema } } },
      ...NOT_READY_RESPONSE,
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
