import type { BalanceRequestSources } from '@chainstead/erc20';
import type { RouteModule } from '@chainstead/http';

/** Routes of statistics of pools and tokens. */
export function createMarketStatisticsRoutes(_balances: BalanceRequestSources): readonly RouteModule[] {
  return [];
}
