import { showIndexed } from '@chainstead/answers';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import { type AskedTraitsOptions, createAskedTraits, NOT_READY } from './asked-traits.ts';
import { groupTraits, NOT_READY_RESPONSE, traitsSchema } from './traits-response.ts';
import { type TraitRow, traitListStatement } from './traits-statement.ts';

/** Traits of one answer at most, those that most NFTs have. */
const TRAITS_MAX = 5_000;
const DEFAULT_CHAIN = 'eth';

/** `GET /api/v2.2/nft/{address}/traits`: the traits of a collection by type (docs/provider-contract.md#traits). The first request has them computed. */
export function createTraitsRoute(options: AskedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const traits = createAskedTraits(dependencies, options);
    app.openapi(routeOf(dependencies), async (c) => {
      const chain = indexedChain(
        dependencies.chains,
        c.req.valid('query').chain?.key ?? DEFAULT_CHAIN,
        nftTransfers.name,
      );
      const contract = c.req.valid('param').address;
      const statement = traitListStatement(chain, { contract, limit: TRAITS_MAX, order: 'DESC', after: null });
      const found = await traits.read<TraitRow>({ chain, contract, requester: traits.requesterOf(c) }, statement);
      if (found === null) return c.json(NOT_READY, 202);
      const isAll = found.rows.length <= TRAITS_MAX;
      const indexed = showIndexed({ ...found.indexed, complete: found.indexed.complete && isAll });
      return c.json({ traits: groupTraits(found.rows.slice(0, TRAITS_MAX), found.tokens), indexed }, 200);
    });
  };
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/traits',
    operationId: 'getNFTTraitsByCollection',
    tags: ['NFT'],
    summary: 'The traits of a collection',
    description:
      "What the documents of a collection's NFTs say, by trait type, with how many have each value. The first request has the documents read: 202 until they are. Of collections of up to 50,000 NFTs; above 5,000 traits the most frequent are shown, the pages have all.",
    request: { params: z.object({ address: parameters.address }), query: querySchema({ chain: parameters.chain }) },
    responses: {
      200: { description: 'The traits', content: { 'application/json': { schema: traitsSchema } } },
      ...NOT_READY_RESPONSE,
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
