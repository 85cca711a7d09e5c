import type { RouteModule } from '@chainstead/http';
import { topGainersRoute } from './top-gainers-route.ts';
import { walletProfitabilityRoute, walletProfitabilitySummaryRoute } from './wallet-profit-routes.ts';

/** Routes of profit and loss. */
export const profitRoutes: readonly RouteModule[] = [
  walletProfitabilityRoute,
  walletProfitabilitySummaryRoute,
  topGainersRoute,
];
