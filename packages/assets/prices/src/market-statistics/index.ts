import { type RouteModule, withServices } from '@chainstead/http';
import { pairStatsRoute } from './pair-stats/pair-stats-route.ts';
import {
  multipleTokenAnalyticsRoute,
  timeSeriesRoute,
  tokenAnalyticsRoute,
} from './token-analytics/token-analytics-routes.ts';
import { aggregatedPairStatsRoute, tokenPairsRoute } from './token-pairs/token-pairs-routes.ts';
import { type TokenSearchOptions, tokenSearchRoute } from './token-search/token-search-route.ts';

export function createMarketStatisticsRoutes(options: TokenSearchOptions): RouteModule {
  return withServices(options, [
    pairStatsRoute,
    tokenPairsRoute,
    aggregatedPairStatsRoute,
    // Before the routes of a token: its address may be any segment there.
    tokenSearchRoute,
    timeSeriesRoute,
    tokenAnalyticsRoute,
    multipleTokenAnalyticsRoute,
  ]);
}
