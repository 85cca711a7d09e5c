import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  requesterOf,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { requestTokensOf } from '../collections/request-metadata.ts';
import { type SyncStatus, syncAnswer } from '../collections/resync-routes.ts';
import { requestTraits, type TraitsRequest } from './request-traits.ts';

const DEFAULT_CHAIN = 'eth';

/** docs/api/nfts.md#traits */
export function createResyncTraitsRoute({ perKey }: { readonly perKey: number }): RouteModule {
  return (app, dependencies) => {
    app.openapi(resyncTraits(dependencies), async (c) => {
      const chain = indexedChain(dependencies.chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      const contract = c.req.valid('param').address;
      const requester = { id: requesterOf(c), limit: perKey };
      const outcome = await requestTraits(dependencies.database, chain, { contract, reason: 'again' }, requester);
      if (outcome !== 'unknown') return c.json(TRAITS_ANSWERS[outcome], 202);
      const tokens = await requestTokensOf(dependencies.database, chain.id, contract, requester);
      return c.json({ status: 'SYNCING' as const, message: `The metadata of ${tokens} tokens is read again` }, 202);
    });
  };
}

const TRAITS_ANSWERS: Readonly<Record<Exclude<TraitsRequest, 'unknown'>, SyncStatus>> = {
  begun: {
    status: 'SYNCING',
    message: 'The metadata of the collection is read again, then its traits and rarity are computed again',
  },
  working: { status: 'SYNCING', message: 'Traits and rarity of the collection are being computed' },
  resting: { status: 'SYNCED', message: 'A resync of traits and rarity was requested less than 30 minutes ago' },
};

function resyncTraits({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/traits/resync',
    operationId: 'resyncNFTRarity',
    tags: ['NFTs'],
    summary: 'Refresh the traits of an NFT collection',
    description:
      'Reads the metadata of a collection again, then recomputes its traits and rarity, at most once in 30 minutes. If its traits were never requested, reads the metadata of the known NFTs again.',
    request: { params: z.object({ address: parameters.address }), query: querySchema({ chain: parameters.chain }) },
    responses: { 202: syncAnswer('The metadata will be read'), ...errorResponses(400, 401, 404, 429, 500, 503) },
  });
}
