import type { RouteModule } from '@chainstead/http';
import { createNftsByTraitsRoute } from './nfts-by-traits-route.ts';
import type { RequestedTraitsOptions } from './requested-traits.ts';
import { createResyncTraitsRoute } from './resync-traits-route.ts';
import { createTraitsPageRoute } from './traits-page-route.ts';
import { createTraitsRoute } from './traits-route.ts';

export function createTraitsRoutes(options: RequestedTraitsOptions): readonly RouteModule[] {
  return [createTraitsRoute, createTraitsPageRoute, createNftsByTraitsRoute, createResyncTraitsRoute].map(
    (create) => create(options),
  );
}
