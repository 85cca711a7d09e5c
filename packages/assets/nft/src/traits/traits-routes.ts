import { type RouteModule, withServices } from '@chainstead/http';
import { requestTokensOf } from '../collections/request-metadata.ts';
import { type SyncStatus, syncStatus } from '../collections/resync-routes.ts';
import { createRecordPages } from '../records/record-pages.ts';
import { nftsByTraitsRoute } from './nfts-by-traits-route.ts';
import {
  createRequestedTraits,
  defineRoute,
  type RequestedTraitsOptions,
  requestTraits,
  type TraitsRequest,
} from './requested-traits.ts';
import { traitsPageRoute, traitsRoute } from './traits-page-route.ts';

export function createTraitsRoutes(options: RequestedTraitsOptions): readonly RouteModule[] {
  const { perKey, sendersOf } = options;
  return [
    (app, api) => {
      const traits = createRequestedTraits(api, options);
      const services = { traits, records: createRecordPages(api.database, sendersOf), perKey };
      withServices(services, [traitsRoute, traitsPageRoute, nftsByTraitsRoute, resyncTraitsRoute])(app, api);
    },
  ];
}

/** docs/api/nfts.md#traits */
const resyncTraitsRoute = defineRoute({
  path: '/api/v2.2/nft/{address}/traits/resync',
  operationId: 'resyncNFTRarity',
  tag: 'NFTs',
  summary: 'Refresh the traits of an NFT collection',
  description:
    'Reads the metadata of a collection again, then recomputes its traits and rarity, at most once in 30 minutes. If its traits were never requested, reads the metadata of the known NFTs again.',
  params: ['address'],
  query: ['chain'],
  response: { status: 202, description: 'The metadata will be read', schema: syncStatus },
  errors: [404],
  async answer({ database, services: { perKey }, address: contract, chain, requester: id }) {
    const requester = { id, limit: perKey };
    const outcome = await requestTraits(database, chain, { contract, reason: 'again' }, requester);
    if (outcome !== 'unknown') return TRAITS_ANSWERS[outcome];
    const tokens = await requestTokensOf(database, chain.id, contract, requester);
    return { status: 'SYNCING' as const, message: `The metadata of ${tokens} tokens is read again` };
  },
});

const TRAITS_ANSWERS: Readonly<Record<Exclude<TraitsRequest, 'unknown'>, SyncStatus>> = {
  begun: {
    status: 'SYNCING',
    message: 'The metadata of the collection is read again, then its traits and rarity are computed again',
  },
  working: { status: 'SYNCING', message: 'Traits and rarity of the collection are being computed' },
  resting: { status: 'SYNCED', message: 'A resync of traits and rarity was requested less than 30 minutes ago' },
};
