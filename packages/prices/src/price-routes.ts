import type { RouteModule } from '@chainstead/http';
import { pairPriceRoute } from './pair-price/pair-price-route.ts';
import { tokenPriceRoute, tokenPricesRoute } from './token-price/price-routes.ts';

/** Routes of prices. The last one takes any two segments before `price`: other routes with that ending come first. */
export const priceRoutes: readonly RouteModule[] = [tokenPriceRoute, tokenPricesRoute, pairPriceRoute];
