import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { defineRoute, NotFoundError, type RouteModule } from '@chainstead/http';
import { EVERY_SWAP, PAIR_NOT_FOUND, pairParameter } from '@chainstead/markets/requests';
import { STATES_DATASET } from '../../token-price/place/price-place.ts';
import { priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { readPairStats } from './pair-stats.ts';
import { pairStatsSchema, showPairStats } from './pair-stats-response.ts';

/** docs/api/market-statistics.md#statistics-of-a-pair */
export function createPairStatsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    defineRoute(app, dependencies, {
      path: '/api/v2.2/pairs/{address}/stats',
      operationId: 'getPairStats',
      tags: ['Tokens'],
      summary: 'Get statistics of a pair',
      description:
        'Price, liquidity and trades of a pool in four windows that end at the newest indexed block. Returns 400 with `SWAPS_<CHAIN>=off`, and 404 for a pool without proof.',
      params: { address: pairParameter() },
      query: { chain: dependencies.parameters.chain },
      datasets: [EVERY_SWAP, STATES_DATASET],
      response: { description: 'Statistics of the pair', schema: pairStatsSchema },
      errors: [404],
      async answer({ address, chain }) {
        const stats = await readPairStats(priceSourcesOf(dependencies, balances), chain, address);
        if (stats === null) throw new NotFoundError(PAIR_NOT_FOUND);
        return showPairStats(stats);
      },
    });
  };
}
