import type { RouteModule } from '@chainstead/http';
import { pairCandlesRoute } from './candles/candles-route.ts';
import { pairAddressRoute, pairReservesRoute } from './swap-lists/pair-routes.ts';
import {
  createWalletSwapsRoute,
  pairSwapsRoute,
  tokenSwapsRoute,
  type WalletSwapsOptions,
} from './swap-lists/swaps-routes.ts';

/** Returns the routes of pools and swaps. */
export function createMarketRoutes(options: WalletSwapsOptions): readonly RouteModule[] {
  return [
    pairSwapsRoute,
    pairCandlesRoute,
    tokenSwapsRoute,
    createWalletSwapsRoute(options),
    pairReservesRoute,
    pairAddressRoute,
  ];
}
