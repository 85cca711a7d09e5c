import type { RouteModule } from '@chainstead/http';
import type { AskedTraitsOptions } from './asked-traits.ts';
import { createNftsByTraitsRoute } from './nfts-by-traits-route.ts';
import { createResyncTraitsRoute } from './resync-traits-route.ts';
import { createTraitsPageRoute } from './traits-page-route.ts';
import { createTraitsRoute } from './traits-route.ts';

/** The routes of traits, which are computed when somebody asks. */
export function createTraitsRoutes(options: AskedTraitsOptions): readonly RouteModule[] {
  return [createTraitsRoute, createTraitsPageRoute, createNftsByTraitsRoute, createResyncTraitsRoute].map((create) =>
    create(options),
  );
}
