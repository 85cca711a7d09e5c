import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import type { RouteModule } from '@chainstead/http';
import { createPairPriceRoute } from './pair-price/pair-price-route.ts';
import { createPriceProver } from './price-proof/prove-price.ts';
import { createTokenPriceRoutes } from './token-price/serve/price-routes.ts';

/** The last one takes any two segments before `price`: other routes come first. */
export function createPriceRoutes(balances: BalanceRequestSources): readonly RouteModule[] {
  return [...createTokenPriceRoutes(balances, createPriceProver(balances)), createPairPriceRoute(balances)];
}
