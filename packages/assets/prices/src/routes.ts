import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { routesFor } from '@chainstead/http';

/** Routes whose prices may need balances that the contracts of tokens return. */
export const { defineRoute, defineListRoute } = routesFor<BalanceRequestSources>();
