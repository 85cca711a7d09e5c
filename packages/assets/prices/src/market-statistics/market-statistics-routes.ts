import type { RouteModule } from '@chainstead/http';
import { createPairStatsRoute } from './pair-stats/pair-stats-route.ts';
import { createTimeSeriesRoute, createTokenAnalyticsRoutes } from './token-analytics/token-analytics-routes.ts';
import { createAggregatedPairStatsRoute, createTokenPairsRoute } from './token-pairs/token-pairs-routes.ts';
import { createTokenSearchRoute, type TokenSearchOptions } from './token-search/token-search-route.ts';

export function createMarketStatisticsRoutes(options: TokenSearchOptions): readonly RouteModule[] {
  return [
    createPairStatsRoute(options),
    createTokenPairsRoute(options),
    createAggregatedPairStatsRoute(options),
    // Before the routes of a token: its address may be any segment there.
    createTokenSearchRoute(options),
    createTimeSeriesRoute(options),
    ...createTokenAnalyticsRoutes(options),
  ];
}
