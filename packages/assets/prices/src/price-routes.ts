import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { type RouteModule, withServices } from '@chainstead/http';
import { pairPriceRoute } from './pair-price/pair-price-route.ts';
import { createPriceProver } from './price-proof/prove-price.ts';
import { tokenPriceRoute, tokenPricesRoute } from './token-price/serve/price-routes.ts';

/** The last one takes any two segments before `price`: other routes come first. */
export function createPriceRoutes(balances: BalanceRequestSources): RouteModule {
  const services = { ...balances, provePrice: createPriceProver(balances) };
  return withServices(services, [tokenPriceRoute, tokenPricesRoute, pairPriceRoute]);
}
