import type { RouteModule } from '@chainstead/http';
import { pairCandlesRoute } from './candles/candles-route.ts';
import { pairAddressRoute, pairReservesRoute } from './swap-lists/pair-routes.ts';
import {
  createPairSwapsRoute,
  createTokenSwapsRoute,
  createWalletSwapsRoute,
  type WalletSwapsOptions,
} from './swap-lists/swaps-routes.ts';

export function createMarketRoutes(options: WalletSwapsOptions): readonly RouteModule[] {
  return [
    createPairSwapsRoute(options),
    pairCandlesRoute,
    createTokenSwapsRoute(options),
    createWalletSwapsRoute(options),
    pairReservesRoute,
    pairAddressRoute,
  ];
}
