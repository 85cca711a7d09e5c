import { type RouteModule, withServices } from '@chainstead/http';
import { createRecordPages } from '../records/record-pages.ts';
import { createTokenHolders } from '../single-nfts/token-holders.ts';
import { NOBODY_REQUESTED } from '../token-state/held-readers.ts';
import { collectionStatsRoute, uniqueOwnersRoute } from './collection-stats-route.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects } from './collection-subjects.ts';
import { contractNftsRoute } from './contract-nfts-route.ts';
import { collectionOwnersRoute, tokenOwnersRoute } from './owners-route.ts';

const ROUTES = [
  contractNftsRoute,
  collectionOwnersRoute,
  tokenOwnersRoute,
  uniqueOwnersRoute,
  collectionStatsRoute,
];

export function createCollectionOwnersRoutes(options: CollectionSubjectsOptions): readonly RouteModule[] {
  const { heldNow = NOBODY_REQUESTED, sendersOf } = options;
  return [
    (app, api) => {
      const services = {
        subjects: createCollectionSubjects(api, options),
        holders: createTokenHolders(api.reads, heldNow),
        records: createRecordPages(api.reads, sendersOf),
        heldNow,
      };
      withServices(services, ROUTES)(app, api);
    },
  ];
}
