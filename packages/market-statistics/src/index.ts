/** Statistics of pools and tokens, and token search. */
export { createMarketStatisticsRoutes } from './market-statistics-routes.ts';
