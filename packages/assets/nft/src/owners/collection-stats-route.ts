import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  requesterOf,
} from '@chainstead/http';
import { readBuilt, showIndexed } from '@chainstead/pages';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import { readCollectionRows } from './collection-statement.ts';
import { type CollectionStats, collectionStatsStatement } from './collection-stats-statement.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects } from './collection-subjects.ts';
import { collectionStatsSchema } from './owners-response.ts';

/** docs/api/nfts.md#collection-statistics */
export function createCollectionStatsRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    app.openapi(routeOf(dependencies), async (c) => {
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, nftTransfers.name);
      const contract = c.req.valid('param').address;
      const requested = { chain, contract, requestedBy: requesterOf(c) };
      const collection = await subjects.open(requested);
      const statement = collectionStatsStatement(chain, contract);
      const stored = await readBuilt(dependencies, (from) =>
        readCollectionRows<CollectionStats>(from, chain, statement),
      );
      const { indexed } = await subjects.stateOf(requested, collection, stored);
      const [counts] = stored.rows;
      const stats = {
        total_tokens: counts?.ids ?? '0',
        owners: { current: counts?.owners ?? '0' },
        transfers: { total: counts?.transfers ?? '0' },
        indexed: showIndexed(indexed),
      };
      return c.json(stats, 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/stats',
    operationId: 'getNFTCollectionStats',
    tags: ['NFTs'],
    summary: 'Get statistics of an NFT collection',
    description: 'Number of held token IDs, owners and transfers of a collection.',
    request: { params: z.object({ address: parameters.address }), query: querySchema({ chain: parameters.chain }) },
    responses: {
      200: {
        description: 'The collection statistics',
        content: { 'application/json': { schema: collectionStatsSchema } },
      },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
