import { defineRoute, type RouteModule } from '@chainstead/http';
import { EVERY_SWAP, nativeTokenOf, shownToken } from '@chainstead/markets/requests';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { showTopGainers, topGainersSchema } from './profit-response.ts';
import { type ProfitSources, sumTopGainers } from './summed-profits.ts';
import { daysParameter, OF_PROFITS } from './wallet-profit-routes.ts';

export const createTopGainersRoute =
  (options: Omit<ProfitSources, 'reads'>): RouteModule =>
  (app, dependencies) => {
    const { parameters, reads } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{address}/top-gainers',
      operationId: 'getTopProfitableWalletPerToken',
      tags: ['Tokens'],
      summary: 'List the most profitable wallets of a token',
      description: `Up to 100 wallets by realized profit in a token, from its newest 100,000 trades. ${OF_PROFITS}`,
      params: { address: parameters.address },
      query: { days: daysParameter(['all', '7', '30']), chain: parameters.chain },
      datasets: [EVERY_SWAP],
      response: { description: 'Profitable wallets', schema: topGainersSchema },
      errors: [404],
      async answer({ address, chain, days = null }) {
        const token = shownToken(address, chain);
        const profits = await sumTopGainers({ ...options, reads }, chain, { token, days });
        const tokenOf = await readTokenBook(reads, chain, [token], nativeTokenOf(chain));
        return showTopGainers(profits, tokenOf(token));
      },
    });
  };
