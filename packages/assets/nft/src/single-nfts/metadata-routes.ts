import { type RouteModule, withServices } from '@chainstead/http';
import { bulkMetadataRoute, collectionMetadataRoute } from '../collections/collection-metadata-route.ts';
import { floorPriceRoutes } from '../collections/floor-price-routes.ts';
import { createMetadataRequests, type MetadataRequestsOptions } from '../collections/request-metadata.ts';
import { resyncTokenRoute, syncCollectionRoute } from '../collections/resync-routes.ts';
import { createRecordPages, type SendersOf } from '../records/record-pages.ts';
import type { HeldNow } from '../token-state/held-readers.ts';
import { multipleNftsRoute } from './multiple-nfts-route.ts';
import { nftMetadataRoute } from './nft-metadata-route.ts';
import { createTokenHolders } from './token-holders.ts';

export interface MetadataRoutesOptions extends MetadataRequestsOptions {
  readonly sendersOf?: SendersOf;
  readonly heldNow?: HeldNow;
}

/** `GET /nft/{address}/{token_id}` must be last: other routes end with a name in its place. */
const ROUTES = [
  collectionMetadataRoute,
  bulkMetadataRoute,
  syncCollectionRoute,
  resyncTokenRoute,
  multipleNftsRoute,
  ...floorPriceRoutes,
  nftMetadataRoute,
];

export function metadataRoutes(options: MetadataRoutesOptions): readonly RouteModule[] {
  return [
    (app, api) => {
      const services = {
        requests: createMetadataRequests(options, api),
        records: createRecordPages(api.database, options.sendersOf),
        holders: createTokenHolders(api.database, options.heldNow),
      };
      withServices(services, ROUTES)(app, api);
    },
  ];
}
