import type { RouteModule } from '@chainstead/http';
import { createHistoricalHoldersRoute } from './historical-holders-route.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';
import { createTokenHoldersRoute } from './token-holders-route.ts';
import { createTokenOwnersRoute } from './token-owners-route.ts';

export function tokenHolderRoutes(options: TokenHoldersOptions): readonly RouteModule[] {
  return [
    createTokenOwnersRoute(options),
    createTokenHoldersRoute(options),
    createHistoricalHoldersRoute(options),
  ];
}
