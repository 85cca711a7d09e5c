import type { BalanceRequestSources } from '@chainstead/erc20';
import type { ApiDependencies } from '@chainstead/http';
import type { PriceSources } from '@chainstead/prices';

/** Sources of prices for one request, whose waits begin now. */
export function sourcesOf({ reads, database, logger }: ApiDependencies, balances: BalanceRequestSources): PriceSources {
  return {
    ...{ reads, database, contracts: { balances, logger } },
    waitsUntil: performance.now() + balances.waitMs,
  };
}
