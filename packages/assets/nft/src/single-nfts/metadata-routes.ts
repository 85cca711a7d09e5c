import type { RouteModule } from '@chainstead/http';
import { bulkMetadataRoute, collectionMetadataRoute } from '../collections/collection-metadata-route.ts';
import { floorPriceRoutes } from '../collections/floor-price-routes.ts';
import { createMetadataRequests, type MetadataRequestsOptions } from '../collections/request-metadata.ts';
import { resyncTokenRoute, syncCollectionRoute } from '../collections/resync-routes.ts';
import type { SendersOf } from '../records/record-pages.ts';
import type { HeldNow } from '../token-state/held-readers.ts';
import { multipleNftsRoute } from './multiple-nfts-route.ts';
import { nftMetadataRoute } from './nft-metadata-route.ts';

export interface MetadataRoutesOptions extends MetadataRequestsOptions {
  readonly sendersOf?: SendersOf;
  readonly heldNow?: HeldNow;
}

/** `GET /nft/{address}/{token_id}` must be last: other routes end with a name in its place. */
export function metadataRoutes(options: MetadataRoutesOptions): readonly RouteModule[] {
  const createRequests = createMetadataRequests(options);
  const { sendersOf, heldNow } = options;
  return [
    ...[collectionMetadataRoute, bulkMetadataRoute, syncCollectionRoute, resyncTokenRoute].map((route) =>
      route(createRequests),
    ),
    multipleNftsRoute(createRequests, sendersOf, heldNow),
    ...floorPriceRoutes,
    nftMetadataRoute(createRequests, sendersOf, heldNow),
  ];
}
