import type { BalanceRequestSources } from '@chainstead/erc20';
import type { RouteModule } from '@chainstead/http';
import { createPairStatsRoute } from './pair-stats/pair-stats-route.ts';
import { createAggregatedPairStatsRoute, createTokenPairsRoute } from './token-pairs/token-pairs-routes.ts';

/** Routes of statistics of pools and tokens. */
export function createMarketStatisticsRoutes(balances: BalanceRequestSources): readonly RouteModule[] {
  return [createPairStatsRoute(balances), createTokenPairsRoute(balances), createAggregatedPairStatsRoute(balances)];
}
