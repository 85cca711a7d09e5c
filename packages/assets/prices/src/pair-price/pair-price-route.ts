import type { BalanceRequestSources } from '@chainstead/erc20';
import { defineRoute, NotFoundError, type RouteModule } from '@chainstead/http';
import {
  factoriesOf,
  getPairOfTokens,
  getPoolPrice,
  PAIR_NOT_FOUND,
  pairNotFound,
  unknownExchange,
} from '@chainstead/markets';
import { z } from '@hono/zod-openapi';
import { type PriceMoment, readPlace, STATES_DATASET } from '../token-price/place/price-place.ts';
import { startPriceSources } from '../token-price/read/prices-with-balances.ts';
import { readTokenPrices } from '../token-price/read/read-token-prices.ts';
import { dollarsOf } from '../token-price/read/token-price.ts';
import { readDeepestPair } from './deepest-pair.ts';
import { pairPriceSchema, showPairPrice } from './pair-price-response.ts';

/** docs/api/prices.md#price-of-a-pair */
export function createPairPriceRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const { chains, parameters, reads } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/{token0_address}/{token1_address}/price',
      operationId: 'getPairPrice',
      tags: ['Tokens'],
      summary: 'Get the price of a pair',
      description:
        'Price by the state of one proven pool at the end of a block: the deepest one of all exchanges, or of the given exchange. The time rule of token prices applies to price_usd only. Returns 404 if no pool or state is known.',
      params: {
        token0_address: parameters.address.openapi({ description: 'Address of the priced token.' }),
        token1_address: parameters.address.openapi({ description: 'Address of the token that the price is in.' }),
      },
      query: {
        chain: parameters.chain,
        to_block: parameters.toBlock.openapi({
          type: 'string',
          pattern: '^[0-9]+$',
          description: 'Block of the price, inclusive. Takes precedence over to_date. Default: the newest.',
        }),
        to_date: parameters.toDate,
        exchange: z
          .string()
          .optional()
          .openapi({ description: 'Name of an exchange (uniswapv2, …) or address of its factory.' }),
      },
      datasets: [STATES_DATASET],
      response: { description: 'Price of the pair', schema: pairPriceSchema },
      errors: [404],
      async answer({ token0_address: base, token1_address: quote, chain, exchange = '', ...query }) {
        const factories = exchange === '' ? null : factoriesOf(exchange, chain);
        if (factories?.length === 0) throw unknownExchange(chain, exchange);
        const { place } = await readPlace(reads, chain, momentOf(query), chain.pricing.windowSeconds);
        if (place === null) throw new NotFoundError(NO_STATE);
        const at = { toBlock: place.block, toDate: null };
        const tokens = [base, quote] as const;
        const pair =
          factories === null
            ? await readDeepestPair(startPriceSources(dependencies, balances), chain, tokens, place)
            : await getPairOfTokens(reads, chain, tokens, factories, at);
        if (pair === null) throw pairNotFound(chains, chain);
        const ratio = await getPoolPrice(reads, chain, pair, { from: place.runStart, to: place.block });
        if (ratio === null) throw new NotFoundError(NO_STATE);
        const conditions = { factories: null, rules: chain.pricing };
        const usd = dollarsOf((await readTokenPrices(reads, chain, [base], conditions, place)).get(base));
        return showPairPrice(pair, chain, [base, quote], ratio, usd);
      },
    });
  };
}

const NO_STATE = `${PAIR_NOT_FOUND}: no state of it is indexed at or before the requested block`;

function momentOf(query: { readonly to_block?: number | undefined; readonly to_date?: Date | undefined }): PriceMoment {
  if (query.to_block !== undefined) return { of: 'block', block: query.to_block };
  return query.to_date === undefined ? { of: 'newest' } : { of: 'time', time: query.to_date.getTime() / 1_000 };
}
