import type { RouteModule } from '@chainstead/http';
import { pairCandlesRoute } from './candles/candles-route.ts';
import { pairAddressRoute, pairReservesRoute } from './swap-lists/pair-routes.ts';
import { pairSwapsRoute, tokenSwapsRoute, walletSwapsRoute } from './swap-lists/swaps-routes.ts';

/** Routes of pools and swaps. */
export const marketRoutes: readonly RouteModule[] = [
  pairSwapsRoute,
  pairCandlesRoute,
  tokenSwapsRoute,
  walletSwapsRoute,
  pairReservesRoute,
  pairAddressRoute,
];
