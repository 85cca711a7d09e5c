import type { RouteModule } from '@chainstead/http';
import { createTopGainersRoute } from './top-gainers-route.ts';
import {
  createWalletProfitabilityRoute,
  createWalletSummaryRoute,
  type WalletProfitOptions,
} from './wallet-profit-routes.ts';

export function createProfitRoutes(options: WalletProfitOptions): readonly RouteModule[] {
  return [
    createWalletProfitabilityRoute(options),
    createWalletSummaryRoute(options),
    createTopGainersRoute(options),
  ];
}
