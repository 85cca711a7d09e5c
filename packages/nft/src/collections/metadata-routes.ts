import type { RouteModule } from '@chainstead/http';
import { collectionMetadataRoute } from './collection-metadata-route.ts';
import { createMetadataRequests, type MetadataRequestsOptions } from './metadata-requests.ts';
import { resyncTokenRoute, resyncTraitsRoute, syncCollectionRoute } from './resync-routes.ts';

/** The routes of collections' and tokens' metadata. */
export function metadataRoutes(options: MetadataRequestsOptions): readonly RouteModule[] {
  const createRequests = createMetadataRequests(options);
  return [collectionMetadataRoute, syncCollectionRoute, resyncTokenRoute, resyncTraitsRoute].map((route) =>
    route(createRequests),
  );
}
