import { showIndexed } from '@chainstead/answers';
import { parseAddress } from '@chainstead/core';
import {
  type ApiDependencies,
  errorResponses,
  InvalidParameterError,
  indexedChain,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import { type AskedTraitsOptions, createAskedTraits, NOT_READY } from './asked-traits.ts';
import { NOT_READY_RESPONSE, showTrait, traitsPageSchema } from './traits-response.ts';
import { type TraitRow, traitListStatement } from './traits-statement.ts';

/** `GET /api/v2.2/nft/{address}/traits/paginate`: the traits of a collection by count (docs/provider-contract.md#traits). A run sees one generation of them. */
export function createTraitsPageRoute(options: AskedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, limits, paging } = dependencies;
    const traits = createAskedTraits(dependencies, options);
    const runs = paging.forRoute({
      route: 'collection-traits',
      filter: z.object({ address: z.string(), chain: z.string() }),
      position: z.object({ generation: z.int(), place: z.int() }),
      defaults: { address: '', chain: 'eth' },
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const { cursor, limit, order, chain: named } = c.req.valid('query');
      const filter = { address: c.req.valid('param').address, chain: named?.key };
      const page = runs.open({ cursor, limit, order, filter });
      const { position } = page;
      const chain = indexedChain(chains, page.filter.chain, nftTransfers.name);
      const contract = parseAddress(page.filter.address);
      const statement = traitListStatement(chain, {
        contract,
        limit: page.limit,
        order: page.order,
        after: position?.place ?? null,
      });
      const found = await traits.read<TraitRow>({ chain, contract, requester: traits.requesterOf(c) }, statement);
      if (position !== null && position.generation !== (found?.generation ?? null)) throw computedAgain(cursor);
      if (found === null) return c.json(NOT_READY, 202);
      const { generation } = found;
      const shown = found.rows.slice(0, page.limit);
      const last = found.rows.length > page.limit ? shown.at(-1) : undefined;
      const upperBound = found.indexed.toBlock ?? 0;
      return c.json(
        {
          page: page.page + 1,
          page_size: page.limit,
          cursor:
            last === undefined || generation === null
              ? null
              : runs.next(page, { position: { generation, place: last.place }, upperBound }),
          indexed: showIndexed(found.indexed),
          result: shown.map((row) => showTrait(row, found.tokens)),
        },
        200,
      );
    });
  };
}

const PAGE_SIZE_DEFAULT = 100;

function computedAgain(cursor: string | undefined): InvalidParameterError {
  return new InvalidParameterError({
    parameter: 'cursor',
    given: cursor,
    message: 'cursor is of traits that have been computed again since: begin with the first page',
  });
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/traits/paginate',
    operationId: 'getNFTTraitsByCollectionPaginate',
    tags: ['NFT'],
    summary: 'The traits of a collection, in pages',
    description:
      "What the documents of a collection's NFTs say, by how many have it. The first request has the documents read: 202 until they are. A cursor ends with the figures that it was given with. Of collections of up to 50,000 NFTs.",
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: parameters.limit,
        cursor: parameters.cursor,
        order: parameters.order.openapi({ description: 'Order by count, then by type and value.' }),
      }),
    },
    responses: {
      200: { description: 'A page of traits', content: { 'application/json': { schema: traitsPageSchema } } },
      ...NOT_READY_RESPONSE,
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
