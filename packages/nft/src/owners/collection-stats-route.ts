import { readKept, showIndexed } from '@chainstead/answers';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import { readCollectionRows } from './collection-statement.ts';
import { type CollectionStatsRow, collectionStatsStatement } from './collection-stats-statement.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects, requesterOf } from './collection-subjects.ts';
import { collectionStatsSchema } from './owners-response.ts';

/** `GET /api/v2.2/nft/{address}/stats`: how much there is of a collection, exactly (docs/provider-contract.md#collection-statistics). */
export function createCollectionStatsRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    app.openapi(routeOf(dependencies), async (c) => {
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, nftTransfers.name);
      const contract = c.req.valid('param').address;
      const asked = { chain, contract, requestedBy: requesterOf(c) };
      const collection = await subjects.open(asked);
      const statement = collectionStatsStatement(chain, contract);
      const found = await readKept(dependencies, (from) =>
        readCollectionRows<CollectionStatsRow>(from, chain, statement),
      );
      const { indexed } = await subjects.stateOf(asked, collection, found);
      const [counts] = found.rows;
      return c.json(
        {
          total_tokens: counts?.ids ?? '0',
          owners: { current: counts?.owners ?? '0' },
          transfers: { total: counts?.transfers ?? '0' },
          indexed: showIndexed(indexed),
        },
        200,
      );
    });
  };
}

const DEFAULT_CHAIN = 'eth';

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/stats',
    operationId: 'getNFTCollectionStats',
    tags: ['NFT'],
    summary: "A collection's statistics",
    description: 'How many ids of a collection somebody holds, how many addresses hold them, and how often one moved.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({ chain: parameters.chain }),
    },
    responses: {
      200: { description: 'The counts', content: { 'application/json': { schema: collectionStatsSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
