import type { RouteModule } from '@chainstead/http';
import { createCollectionStatsRoute, createUniqueOwnersRoute } from './collection-stats-route.ts';
import type { CollectionSubjectsOptions } from './collection-subjects.ts';
import { createContractNftsRoute } from './contract-nfts-route.ts';
import { createCollectionOwnersRoute, createTokenOwnersRoute } from './owners-route.ts';

export function createCollectionOwnersRoutes(options: CollectionSubjectsOptions): readonly RouteModule[] {
  return [
    createContractNftsRoute,
    createCollectionOwnersRoute,
    createTokenOwnersRoute,
    createUniqueOwnersRoute,
    createCollectionStatsRoute,
  ].map((create) => create(options));
}
