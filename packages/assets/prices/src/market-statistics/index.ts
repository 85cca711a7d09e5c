export { createMarketStatisticsRoutes } from './market-statistics-routes.ts';
